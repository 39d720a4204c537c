package arch

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A pictured room is a node of the picture in ARCHITECTURE.md. Folders that every room may use, such as internal/vfs,
// are in no room, nor are tools and tests.
type picturedRoom struct{ name, label, folders string }

var pictured = []picturedRoom{
	{"cmd", "cmd: programs", "cmd"},
	{"trawl", "trawl: a node", "."},
	{"rpc", "rpc: HTTP, methods, page", "rpc"},
	{"actors", "actors: state and its owners", "actors"},
	{"index", "index, follow, poolview: in step with the chain", "internal/index internal/follow internal/poolview"},
	{"engine", "engine: validates a chain", "internal/engine internal/versionbits internal/headersync internal/coinstats"},
	{"corenode", "corenode: client of a Bitcoin Core", "internal/corenode"},
	{"store", "store: files and databases", "store"},
	{"match", "match, search: scripts in filters", "internal/match internal/search internal/rangefilter"},
	{"p2p", "p2p: messages of peers", "internal/p2p"},
	{"wallet", "wallet: keys, coins, payments", "internal/wallet internal/walletfile"},
	{"dialect", "dialect: what networks differ in", "internal/dialect"},
	{"txpool", "txpool: the pool as pure data", "internal/txpool"},
	{"rawtx", "rawtx: PSBTs and signing", "internal/rawtx"},
	{"p2mrvm", "p2mr/vm, p2mr/pow: rules of P2MR chains", "internal/p2mr/vm internal/p2mr/pow"},
	{"consensus", "consensus: rules of all chains", "internal/consensus"},
	{"descriptor", "descriptor: output descriptors", "descriptor"},
	{"filters", "filters: BIP158", "filters"},
	{"chainview", "chainview: the block tree", "internal/chainview"},
	{"ask", "ask: request and reply", "internal/ask"},
	{"messages", "messages: what may be said", "messages internal/nodemsg"},
	{"crypto", "curve, slhdsa, p2mr, siphash", "internal/curve internal/slhdsa internal/p2mr internal/siphash"},
}

// roomOf returns the room of a folder, by the longest name that fits; empty: none.
func roomOf(folder string) string {
	room, longest := "", 0
	for _, r := range pictured {
		for name := range strings.FieldsSeq(r.folders) {
			if (folder == name || name != "." && within(folder, name)) && len(name) > longest {
				room, longest = r.name, len(name)
			}
		}
	}
	return room
}

type arrows map[string]map[string]bool

// reaches reports whether a way leads from one room to another which is not the arrow between them.
func (a arrows) reaches(from, to string) bool {
	seen, next := map[string]bool{}, []string{}
	for room := range a[from] {
		if room != to {
			next = append(next, room)
		}
	}
	for len(next) > 0 {
		room := next[len(next)-1]
		next = next[:len(next)-1]
		if room == to {
			return true
		}
		if !seen[room] {
			seen[room] = true
			next = slices.AppendSeq(next, maps.Keys(a[room]))
		}
	}
	return false
}

// picture draws the rooms as a diagram of mermaid. An arrow that follows from others is left out.
func picture(all []*folder) string {
	uses := arrows{}
	for _, f := range all {
		from := roomOf(f.name)
		for _, path := range f.imports() {
			rest, ours := strings.CutPrefix(path+"/", module+"/")
			to := roomOf(cmp.Or(strings.TrimSuffix(rest, "/"), "."))
			if !ours || from == "" || to == "" || from == to {
				continue
			}
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, r := range pictured {
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", r.name, r.label)
	}
	for _, r := range pictured {
		for _, to := range slices.Sorted(maps.Keys(uses[r.name])) {
			if !uses.reaches(r.name, to) {
				fmt.Fprintf(&b, "  %s --> %s\n", r.name, to)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// The picture of the rooms in ARCHITECTURE.md agrees with the imports; -record draws it again.
func TestPictureOfRooms(t *testing.T) {
	text, want := readText(t, "ARCHITECTURE.md"), picture(folders(t))
	begin := strings.Index(text, "```mermaid\n")
	if begin < 0 {
		t.Fatal("ARCHITECTURE.md has no picture of the rooms")
	}
	end := begin + strings.Index(text[begin+3:], "```\n") + len("```\n") + 3
	if text[begin:end] == want {
		return
	}
	if !*record {
		t.Fatalf("the picture of the rooms in ARCHITECTURE.md is old (-record draws it):\n%s", want)
	}
	path := filepath.Join("..", "..", "ARCHITECTURE.md")
	if err := os.WriteFile(path, []byte(text[:begin]+want+text[end:]), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The folders of each room are there, and a folder is in the room whose name fits it best.
func TestPicturedRooms(t *testing.T) {
	all := folders(t)
	for _, r := range pictured {
		for name := range strings.FieldsSeq(r.folders) {
			if !slices.ContainsFunc(all, func(f *folder) bool { return f.in(name) }) {
				t.Errorf("%s of room %s is not there", name, r.name)
			}
		}
	}
	for folder, want := range map[string]string{
		".": "trawl", "internal/p2mr": "crypto", "internal/p2mr/vm": "p2mrvm", "internal/vfs": "", "actors/chain": "actors",
	} {
		if got := roomOf(folder); got != want {
			t.Errorf("%s is in %q, want %q", folder, got, want)
		}
	}
	uses := arrows{"a": {"b": true, "c": true}, "b": {"c": true}}
	if !uses.reaches("a", "c") || uses.reaches("a", "b") || uses.reaches("b", "c") {
		t.Error("the arrows that follow from others are wrong")
	}
}
