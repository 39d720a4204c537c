package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/version"
)

// maxNetLevel is the highest level of -netinfo; those above are the same.
const maxNetLevel = 4

// netView is what of the connections the user wants to see: with a level above
// 0 a list of the peers, with their addresses (2 and 4) and versions (3 and 4).
type netView struct {
	level        uint64
	outboundOnly bool
}

func (v netView) addresses() bool { return v.level == 2 || v.level == 4 }

func (v netView) versions() bool { return v.level == 3 || v.level == 4 }

// netinfo shows the connections of the node.
func (c *client) netinfo(words []string) (*jsontree.Value, error) {
	if len(words) > 0 && (words[0] == "h" || words[0] == "help") {
		return jsontree.NewString(strings.ReplaceAll(netHelp, options.NamesOf("").CLI, c.names().CLI)), nil
	}
	view, err := newNetView(words, c.names().CLI)
	if err != nil {
		return nil, err
	}
	results, err := c.batch(2, "getpeerinfo", "getnetworkinfo")
	if err != nil {
		return nil, err
	}
	text, err := netReport(results[0], results[1], view, c.names(), string(c.settings.Chain()), time.Now())
	if err != nil {
		return nil, err
	}
	return jsontree.NewString(text), nil
}

func newNetView(words []string, cli string) (netView, error) {
	seeHelp := "For more information, run: " + cli + " -netinfo help"
	if len(words) == 0 {
		return netView{}, nil
	}
	level, err := strconv.ParseUint(words[0], 10, 8)
	if err != nil {
		return netView{}, failf("invalid -netinfo level argument: %s\n%s", words[0], seeHelp)
	}
	view := netView{level: min(level, maxNetLevel)}
	if len(words) == 1 {
		return view, nil
	}
	switch only := words[1]; {
	case level == 0:
		return netView{}, failf("invalid -netinfo outonly argument: %s\n"+
			"The outonly argument is only valid for a level greater than 0 (the first argument). %s", only, seeHelp)
	case only != "o" && only != "outonly":
		return netView{}, failf("invalid -netinfo outonly argument: %s\n%s", only, seeHelp)
	}
	view.outboundOnly = true
	return view, nil
}

// netReport lays the connections out as Core does.
func netReport(
	peers, network *jsontree.Value, view netView, names options.Names, chain string, now time.Time,
) (string, error) {
	r := &reader{}
	if r.int(network.Get("version")) < names.InfoSince && r.err == nil || names.InfoSince == 0 && lacksInfo(network) {
		return "", failf("-netinfo requires %s server %s", names.Reference, names.InfoNeeds)
	}
	table := newPeerTable(peers, view, now.Unix(), r)
	services := network.Get("localservicesnames")
	var b strings.Builder
	fmt.Fprintf(&b, "%s client v%s%s - server %d%s", names.Own, version.Number, chainSuffix(chain),
		r.int(network.Get("protocolversion")), r.string(network.Get("subversion")))
	if view.level > 0 {
		fmt.Fprintf(&b, " - services %s", serviceLetters(services))
	}
	b.WriteString("\n\n")
	if view.level > 0 && len(table.peers) > 0 {
		table.write(&b, view)
	}
	table.writeCounts(&b, network.Get("networks"), r)
	if view.level == 0 {
		fmt.Fprintf(&b, "\n\nLocal services: %s", serviceList(services))
	}
	b.WriteString("\n\nLocal addresses")
	writeLocalAddresses(&b, network.Get("localaddresses"), r)
	return b.String(), r.err
}

// lacksInfo reports whether a node does not tell what is shown.
func lacksInfo(network *jsontree.Value) bool {
	return network.Get("protocolversion").Kind() != jsontree.Number ||
		network.Get("subversion").Kind() != jsontree.String || network.Get("networks").Kind() != jsontree.Array
}

// chainSuffix is how the network is named behind the version.
func chainSuffix(chain string) string {
	switch chain {
	case "main":
		return ""
	case "test":
		return " testnet"
	default:
		return " " + chain
	}
}

// serviceLetters writes a letter for each service.
func serviceLetters(names *jsontree.Value) string {
	var b strings.Builder
	for _, v := range names.Elements() {
		switch name := v.Text(); name {
		case "":
		case "NETWORK_LIMITED":
			b.WriteByte('l')
		case "P2P_V2":
			b.WriteByte('2')
		default:
			b.WriteString(strings.ToLower(name[:1]))
		}
	}
	return b.String()
}

func serviceList(names *jsontree.Value) string {
	var all []string
	for _, v := range names.Elements() {
		all = append(all, strings.ToLower(strings.ReplaceAll(v.Text(), "_", " ")))
	}
	return strings.Join(all, ", ")
}

func writeLocalAddresses(b *strings.Builder, addresses *jsontree.Value, r *reader) {
	if addresses.Len() == 0 {
		b.WriteString(": n/a\n")
		return
	}
	width := 0
	for _, a := range addresses.Elements() {
		width = max(width, len(r.string(a.Get("address")))+1)
	}
	for _, a := range addresses.Elements() {
		fmt.Fprintf(
			b, "\n%-*s    port %6d    score %6d", width, r.string(a.Get("address")), r.int(a.Get("port")),
			r.int(a.Get("score")),
		)
	}
}

// writeCounts adds the table of how many connections there are, by direction and
// network.
func (t *peerTable) writeCounts(b *strings.Builder, networks *jsontree.Value, r *reader) {
	var columns []int
	b.WriteString("     ")
	for _, n := range networks.Elements() {
		name := r.string(n.Get("name"))
		known := slices.Index(networkNames, name)
		if !r.bool(n.Get("reachable")) || known < 0 {
			continue
		}
		fmt.Fprintf(b, "%8s", name)
		columns = append(columns, known)
	}
	for _, unreachable := range []int{0, len(networkNames) - 1} {
		if t.counts[total][unreachable] > 0 {
			fmt.Fprintf(b, "%8s", networkShorts[unreachable])
			columns = append(columns, unreachable)
		}
	}
	b.WriteString("   total   block")
	if t.manual > 0 {
		b.WriteString("  manual")
	}
	for row, name := range []string{inbound: "in", outbound: "out", total: "total"} {
		fmt.Fprintf(b, "\n%-5s", name)
		sum := 0
		for _, n := range t.counts[row] {
			sum += n
		}
		for _, column := range columns {
			fmt.Fprintf(b, "%8d", t.counts[row][column])
		}
		fmt.Fprintf(b, "   %5d", sum)
		if row == outbound {
			fmt.Fprintf(b, "   %5d", t.blockRelay)
			if t.manual > 0 {
				fmt.Fprintf(b, "   %5d", t.manual)
			}
		}
	}
}

// reader reads values and keeps the first error.
type reader struct{ err error }

func (r *reader) int(v *jsontree.Value) int64 { return read(r, v, (*jsontree.Value).AsInt64) }

func (r *reader) bool(v *jsontree.Value) bool { return read(r, v, (*jsontree.Value).AsBool) }

func (r *reader) string(v *jsontree.Value) string { return read(r, v, (*jsontree.Value).AsString) }

func (r *reader) float(v *jsontree.Value) float64 { return read(r, v, (*jsontree.Value).AsFloat64) }

func read[T any](r *reader, v *jsontree.Value, as func(*jsontree.Value) (T, error)) T {
	value, err := as(v)
	if r.err == nil {
		r.err = err
	}
	return value
}
