package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// stateLimit is how long an action waits for the node to reach a state.
const stateLimit = 2 * time.Minute

// A Player plays the cases of one set on one node.
type Player struct {
	Client  *jsonrpc.Client
	Folder  string // of the set
	Backups string // what {{BACKUPS}} stands for, as the node sees it
	Scratch string // what {{SCRATCH}} stands for: a folder the node may write to
	P2P     string // host:port at which the node accepts peers; empty: nowhere

	peers map[string]*peer  // that are or were connected
	vars  map[string]string // what {{var:NAME}} stands for
}

// An Outcome is how a case went. Without differences it passed, or it found no
// opportunity to tell, which Inconclusive then explains.
type Outcome struct {
	Diffs        []Diff
	Got          string // the body that came, of a call
	Inconclusive string
}

func failed(kind DiffKind, format string, args ...any) Outcome {
	return Outcome{Diffs: []Diff{{kind, "/", fmt.Sprintf(format, args...)}}}
}

// Play plays one case, which is a call or an action. Actions are:
//
//	wait-tip     waits until the node, with "index" its filter index, too,
//	             has reached a block
//	load-blocks  submits the blocks of a file unless the node has them, and
//	             waits
//	scan-race    runs a scan, and asks for its status, starts another and
//	             aborts it meanwhile
//	peer-open    connects peers to the node; {{var:addr_NAME}}, {{var:port_NAME}}
//	             and {{var:id_NAME}} then stand for what the node calls them
//	peer-check   waits until the node has closed some of them, and sees that it
//	             keeps others
//	peer-close-all  closes those that are left
func (p *Player) Play(ctx context.Context, c *Case) Outcome {
	switch c.Action {
	case "":
		return p.call(ctx, c)
	case "wait-tip":
		return p.waitTip(ctx, c)
	case "load-blocks":
		return p.loadBlocks(ctx, c)
	case "scan-race":
		return p.scanRace(ctx, c)
	case "peer-open", "peer-check", "peer-close-all":
		return p.playPeers(ctx, c)
	}
	return failed(Precondition, "unknown action %q", c.Action)
}

func (p *Player) call(ctx context.Context, c *Case) Outcome {
	path := "/"
	if c.Wallet != nil {
		path = "/wallet/" + url.PathEscape(*c.Wallet)
	}
	reply, err := p.Client.Post(ctx, path, []byte(p.expand(c.Request)))
	if err != nil {
		return failed(Connection, "%v", err)
	}
	return Outcome{Diffs: p.judge(c, reply), Got: reply.Body}
}

// judge compares a reply with what the case expects.
func (p *Player) judge(c *Case, reply jsonrpc.Reply) []Diff {
	var want string
	if c.Response != nil {
		want = p.expand(*c.Response)
	}
	diffs := CompareBody(want, reply.Body, &c.Compare)
	for _, other := range c.Compare.AnyOf {
		if len(diffs) > 0 && len(CompareBody(p.expand(other), reply.Body, &c.Compare)) == 0 {
			diffs = nil
		}
	}
	if c.Compare.comparesStatus() && c.Status != 0 && reply.Status != c.Status {
		text := fmt.Sprintf("want HTTP %d, got %d", c.Status, reply.Status)
		diffs = append([]Diff{{Status, "/", text}}, diffs...)
	}
	return diffs
}

var repetition = regexp.MustCompile(`(?s)\{\{repeat:(\d+):(.*?)\}\}`)

// expand fills in the placeholders of a text that is JSON.
func (p *Player) expand(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	text = strings.NewReplacer("{{BACKUPS}}", quoted(p.Backups), "{{SCRATCH}}", quoted(p.Scratch)).Replace(text)
	text = p.fill(text)
	return repetition.ReplaceAllStringFunc(text, func(match string) string {
		parts := repetition.FindStringSubmatch(match)
		n, err := strconv.Atoi(parts[1])
		if err != nil {
			return match
		}
		return strings.Repeat(parts[2], n)
	})
}

// quoted returns a text as it stands between the quotes of a JSON string.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(b[1 : len(b)-1])
}
