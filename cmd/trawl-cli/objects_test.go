package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestBareObjects(t *testing.T) {
	const address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	const key = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJ" +
		"CTKvosUCJZL5B"
	const origin = "[d34db33f/84h/1h/0h]"
	const ranged = `"combo(` + key + `/<0;1>/*)","tr(` + key + `/<0;1>/*)"`
	for word, want := range map[string]string{
		address:                        `["addr(` + address + `)"]`,
		key:                            `[` + ranged + `]`,
		origin + key:                   `["combo(` + origin + key + `/<0;1>/*)","tr(` + origin + key + `/<0;1>/*)"]`,
		key + "/0/*":                   `["combo(` + key + `/0/*)","tr(` + key + `/0/*)"]`,
		"wpkh(" + key + "/0/*)":        `["wpkh(` + key + `/0/*)"]`,
		"wpkh(" + origin + key + "/0)": `["wpkh(` + origin + key + `/0)"]`,
		`[{"desc":"pkh(` + origin + key + `/*)#3f2lsha7"}]`: `[{"desc":"pkh(` + origin + key + `/*)#3f2lsha7"}]`,
		`["raw(51)","` + address + `"]`:                     `["raw(51)","addr(` + address + `)"]`,
		`[{"range":9,"desc":"` + key + `"}]`: `[{"range":9,"desc":"combo(` + key + `/<0;1>/*)"},` +
			`{"range":9,"desc":"tr(` + key + `/<0;1>/*)"}]`,
		`[{"desc":"raw(51)"},5,null,{"a":1}]`: `[{"desc":"raw(51)"},5,null,{"a":1}]`,
		`[]`:                                  `[]`,
		`{"desc":"x"}`:                        `{"desc":"x"}`,
		`nothing`:                             `nothing`,
		`[`:                                   `[`,
		``:                                    ``,
	} {
		if got := objectsOf(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	s := newServer(t, 200, `{"result":null}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"createsearch", address}, `[["addr(` + address + `)"]]`},
		{[]string{"scanblocks", "start", address, "5"}, `["start",["addr(` + address + `)"],5]`},
		{
			[]string{"-named", "createsearch", "scanobjects=" + key, "follow=true"},
			`{"scanobjects":[` + ranged + `],"follow":true}`,
		},
		{[]string{"getnewaddress", address}, `["` + address + `"]`},
	} {
		cli(t, "", append([]string{s.port(), "-rpcpassword=p"}, c.args...)...).want(t, 0, "", "")
		if last := s.askedBody[len(s.askedBody)-1]; !strings.Contains(last, `"params":`+c.want) {
			t.Errorf("%v: %s, want %s", c.args, last, c.want)
		}
	}
	cli(t, "", s.port(), "-rpcpassword=p", "createsearch", "nothing").want(
		t, 1, "", "error: Error parsing JSON: nothing\n",
	)
}

func TestDidYouMean(t *testing.T) {
	s := newServer(t, 200, `{"error":{"code":-32601,"message":"Method not found"}}`)
	for name, want := range map[string]string{
		"getblockcuont": "\nDid you mean getblockcount?", "scanblock": "\nDid you mean scanblocks?",
		"wach": "\nDid you mean watch?", "GetSearch": "\nDid you mean getsearch?", "xyzzy": "", "": "",
	} {
		cli(t, "", s.port(), "-rpcpassword=p", name).want(
			t, 89, "", "error code: -32601\nerror message:\nMethod not found"+want+"\n",
		)
	}
	for arg, want := range map[string]string{
		"-rpcprot=5": "\nDid you mean -rpcport=?", "--getserch": "\nDid you mean -getsearch?", "-zzzzzz": "",
	} {
		cli(t, "", arg, "getblockcount", "-getnif").want(
			t, 1, "", "Error parsing command line arguments: Invalid parameter "+arg+want+"\n",
		)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"abc", "bca", 2}, {"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A watch makes a search from the tip on, prints what it finds, and removes it at the end.
func TestWatch(t *testing.T) {
	s := newSearchServer(t, `"entries":[`+received+`],"cursor":"a",`+`"more":false,`+running,
		`"entries":[],"cursor":"a","more":false,`+running)
	s.cli(t, s.interruptAtLastPage(), "watch", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", "raw(51)").want(
		t, interrupted, strings.SplitAfter(asText, "\n")[0], "The watch has ended.\n",
	)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, want := range []string{
		`createsearch[["addr(bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080)","raw(51)"],` +
			`{"follow":true,"mempool":true,"start_height":7}]`,
		`removesearch["00c3"]`,
	} {
		if !slices.Contains(s.asked, want) {
			t.Errorf("%s was not asked, but %q", want, s.asked)
		}
	}
	// The range of a public key widens, a private one's may be unable to.
	const public, private = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgX", "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuE"
	hits := make(chan os.Signal, 1)
	hits <- os.Interrupt
	s.asked = nil
	s.mu.Unlock()
	s.cli(t, hits, "watch", public, private+"/7/*")
	s.mu.Lock()
	const want = `createsearch[[{"desc":"combo(` + public + `/<0;1>/*)","gap":1000},{"desc":"tr(` + public +
		`/<0;1>/*)","gap":1000},"combo(` + private + `/7/*)","tr(` + private + `/7/*)"],` +
		`{"follow":true,"mempool":true,"start_height":7}]`
	if !slices.Contains(s.asked, want) {
		t.Errorf("%s was not asked, but %q", want, s.asked)
	}
	cli(t, "", "-rpcpassword=p", "watch").want(t, 1, "", "error: watch takes addresses, extended keys or descriptors\n")
}

// A watch whose reader goes leaves no search behind: `trawl-cli watch … | head -1`.
func TestWatchIntoClosedPipe(t *testing.T) {
	s := newSearchServer(t, `"entries":[`+received+`],"cursor":"a","more":false,`+running)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	port := (&server{Server: s.Server}).port()
	cmd := exec.CommandContext(t.Context(), program, port, "-rpcpassword=p", "watch", "raw(51)")
	cmd.Args[0], cmd.Stdout, cmd.Env = "trawl-cli", write, append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(read, 16).ReadString('\n'); err != nil {
		t.Error(err)
	}
	if err := errors.Join(read.Close(), write.Close()); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // not with 0: it was interrupted
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.asked, `removesearch["00c3"]`) {
		t.Errorf("the search stays; asked %q", s.asked[max(0, len(s.asked)-3):])
	}
}

// An interrupt that comes while the search is made is not lost, and a search that cannot be removed is told.
func TestWatchInterruptedEarly(t *testing.T) {
	s := newSearchServer(t, `"entries":[],"cursor":"a","more":false,`+running)
	hits := make(chan os.Signal, 1)
	s.made = func() { hits <- os.Interrupt }
	s.keeps = true
	s.cli(t, hits, "watch", "raw(51)").want(t, 1, "", "error: The watch has ended.\n"+
		"The search 00c3 could not be removed: error code: -1\nerror message:\nno\n")
}

// The end of a search that is watched, which is no error, does not hide that it could not be removed.
func TestWatchedSearchEnds(t *testing.T) {
	s := newSearchServer(t, `"entries":[],"cursor":"a","more":false,"height":9,"state":"done","error":""`)
	s.keeps = true
	s.cli(t, nil, "watch", "raw(51)").want(t, 1, "", "error: The watch has ended.\n"+
		"The search 00c3 could not be removed: error code: -1\nerror message:\nno\n")
}

func TestSearchPage(t *testing.T) {
	s := newServer(t, 200, `{"result":{"id":"00c3","name":"shop","state":"following","height":9,"start_height":2,`+
		`"scripts":3,"progress":100,"found":5,"blocks":4,"descriptors":[{"desc":"wpkh(x/*)","range":[0,9],`+
		`"highest_used":8,"exhausted":true},{"desc":"tr(x/*)","range":[0,7],"gap":20,"exhausted":true}]},"id":1}`)
	cli(t, "", s.port(), "-rpcpassword=p", "-getsearch", "shop").want(t, 0, `Search shop (00c3)
State:    following
Progress: `+percentBar(100)+`  height 9
Looks for 3 scripts from height 2 on
Found:    5 entries in 4 blocks
The range of wpkh(x/*) is used up to 8 of 9: there may be more behind it (extendsearch)
tr(x/*): indices 0 to 7, with a gap of 20
The range of tr(x/*) ends at 7, before its gap of 20 does: there may be more behind it
`, "")
	failed := newServer(t, 200, `{"result":{"id":"00c3","name":"00c3","state":"failed","error":"no block","height":3,`+
		`"start_height":2,"stop_height":9,"scripts":3,"progress":20,"found":0,"blocks":0},"id":1}`)
	cli(t, "", failed.port(), "-rpcpassword=p", "-getsearch", "00c3").want(t, 1, "", `error: Search 00c3
State:    failed: no block
Progress: `+percentBar(20)+`  height 3
Looks for 3 scripts from height 2 on up to 9
Found:    0 entries in 0 blocks
`)
	cli(t, "", s.port(), "-rpcpassword=p", "-getsearch").want(
		t, 1, "", "error: -getsearch takes the name or the id of a search\n",
	)
}
