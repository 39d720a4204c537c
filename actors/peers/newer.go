package peers

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p"
)

// logNewer logs that a peer runs a later release of this node's reference.
func (b *base) logNewer(e *entry) {
	name, _, _ := strings.Cut(b.cfg.Network.Software.Agent, ":")
	if b.cfg.Network.TellsNewer && isNewer(name, e.remote.UserAgent, b.cfg.UserAgent) {
		b.printf("peer=%d advertises newer subversion %s (local %s); consider upgrading",
			e.id, e.remote.UserAgent, b.cfg.UserAgent)
	}
}

// logJoined logs that a peer has shaken hands, for everyone to see if it was this node that connected.
func (b *base) logJoined(e *entry) {
	mapped, print := "", b.printf
	if as := b.cfg.ASMap.AS(e.addr); as != 0 {
		mapped = fmt.Sprintf(", mapped_as=%d", as)
	}
	if e.typ == p2p.Inbound {
		print = b.debugf
	}
	transport, version := e.session.Stats().Transport, e.remote.Version.Protocol
	name := p2p.PeerName(e.id, b.logSuffix(e.name))
	if b.cfg.Network.Traffic.NewerLog {
		print("New %v peer connected: transport: %v, version: %d, %s%s", e.typ, transport, version, name, mapped)
		return
	}
	print("New %v %v peer connected: version: %d, blocks=%d, %s%s", e.typ, transport, version,
		e.remote.Version.StartHeight, name, mapped)
}

// agentForm is the first part of a user agent: name, version, phase before a release ("testnet2"), candidate, comments.
var agentForm = regexp.MustCompile(
	`^/([^:]*):(\d+)\.(\d+)\.(\d+)(?:-([A-Za-z]+)(\d*))??(?:-rc(\d+))?(?:\([^/]*)?/`)

// A release is what a user agent says of its program.
type release struct {
	version [3]int
	phase   string // "testnet"; empty: none
	number  int    // of the phase; -1: none
	rc      int    // number of the candidate; noCandidate: none
}

// noCandidate comes after all candidates.
const noCandidate = 1<<31 - 1

// isNewer reports whether the user agent theirs names a later release of a program than ours does. Releases of
// different phases are in no order.
func isNewer(name, theirs, ours string) bool {
	a, ok := readRelease(name, theirs)
	b, known := readRelease(name, ours)
	if !ok || !known {
		return false
	}
	for i := range a.version {
		if order := cmp.Compare(a.version[i], b.version[i]); order != 0 {
			return order > 0
		}
	}
	if a.phase != b.phase || (a.number < 0) != (b.number < 0) {
		return false
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.rc, b.rc)) > 0
}

func readRelease(name, agent string) (r release, ok bool) {
	found := agentForm.FindStringSubmatch(agent)
	if found == nil || found[1] != name || strings.HasPrefix(found[5], "rc") {
		return r, false
	}
	r.phase, r.number, r.rc = found[5], -1, noCandidate
	numbers := []*int{&r.version[0], &r.version[1], &r.version[2], &r.number, &r.rc}
	for i, text := range []string{found[2], found[3], found[4], found[6], found[7]} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return r, false
		}
		*numbers[i] = int(n)
	}
	return r, true
}
