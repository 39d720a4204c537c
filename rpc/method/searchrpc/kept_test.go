package searchrpc_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

// taking is an actor that keeps what it is asked for.
type taking struct {
	created  messages.CreateSearch
	extended messages.ExtendSearch
	err      error
}

func (k *taking) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.CreateSearch, messages.SearchCreated]:
		k.created = m.Req
		m.Answer(messages.SearchCreated{}, k.err)
	case *ask.Call[messages.ExtendSearch, messages.SearchStatus]:
		k.extended = m.Req
		m.Answer(messages.SearchStatus{}, k.err)
	}
}

// caller returns what calls the methods over an actor that keeps what it is asked for.
func caller(t *testing.T) (k *taking, call func(method, params string) string) {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	k = new(taking)
	table, err := command.NewTable(searchrpc.Commands(searchrpc.Deps{
		Network: net, Searches: actortest.New(t).Spawn("searches", func() actor.Actor { return k }),
		Chain: &chainrpc.Deps{Network: net},
	}))
	if err != nil {
		t.Fatal(err)
	}
	table = table.Speak(net.Reference)
	return k, func(method, params string) string {
		t.Helper()
		v, err := jsontree.Parse([]byte(params))
		if err != nil {
			t.Fatal(params, err)
		}
		prepared, err := table.Prepare(command.Caller{}, method, v)
		if err == nil {
			_, err = prepared.Run(t.Context())
		}
		if err != nil {
			e, _ := table.Reveal(err)
			return fmt.Sprintf("%d %s", e.Code, e.Message)
		}
		return ""
	}
}

const (
	keptKey = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEm" +
		"NUWwx8UbK"
	keptPub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTK" +
		"vosUCJZL5B"
)

// The text that is kept of a descriptor with a gap gives the same scripts at each index, and has no private key. Where
// only private keys give the scripts, the gap is refused.
func TestKeptWithoutPrivateKeys(t *testing.T) {
	k, call := caller(t)
	net, _ := dialect.Bitcoin("regtest")
	for _, form := range []string{
		"wpkh(%s/84h/0h/0h/0/*)", "wpkh(%s/0/*)", "pkh(%s/44'/1'/0'/<0;1>/*)", "sh(wpkh(%s/1h/*))",
		"tr(%s/1h/*,pk(%[1]s/2h/*))",
		"wsh(multi(1,%s/1h/*," + keptPub + "/0/*))", "wsh(and_v(v:pk(%s/3h/*),older(5)))", "combo(%s/7h/0/*)",
		"tr(musig(%s/1h/0," + keptPub + ")/0/*)", "wpkh([deadbeef/1h]%s/2h/0/*)",
	} {
		text := fmt.Sprintf(form, keptKey)
		if got := call("createsearch", `[[{"desc":"`+text+`","range":[2,4],"gap":30}]]`); got != "" {
			t.Errorf("%s: %s", text, got)
			continue
		}
		branches, err := descriptor.Parse(text, net.Descriptors(), descriptor.Options{})
		if err != nil || len(k.created.Objects.Texts) != len(branches) {
			t.Fatal(text, err, k.created.Objects.Texts)
		}
		for i, kept := range k.created.Objects.Texts {
			again, err := descriptor.Parse(kept, net.Descriptors(), descriptor.Options{RequireChecksum: true})
			if err != nil || len(again) != 1 || again[0].HasPrivateKeys() || strings.Contains(kept, "tprv") {
				t.Fatalf("%s was kept as %s: %v", text, kept, err)
			}
			for _, index := range []uint32{0, 4, 77} {
				want, _ := branches[i].Expand(index)
				got, err := again[0].Expand(index)
				if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
					t.Errorf("%s at %d: %x, %v", kept, index, got, err)
				}
			}
		}
		gaps := k.created.Objects.Gaps
		if len(gaps) != len(branches) || slices.Min(gaps) != 30 || slices.Max(gaps) != 30 {
			t.Errorf("%s has the gaps %v", text, gaps)
		}
		// Without a gap the text is shown as before.
		if got := call("createsearch", `[[{"desc":"`+text+`","range":[2,4]}]]`); got != "" ||
			k.created.Objects.Texts[0] != branches[0].String() || k.created.Objects.Gaps != nil {
			t.Errorf("%s: %s, %v", text, got, k.created.Objects.Texts)
		}
	}
	for _, form := range []string{"wpkh(%s/1h/*h)", "wsh(multi(1,%s/1/*," + keptPub + "/*))", "wpkh(%s/*h)"} {
		text := fmt.Sprintf(form, keptKey)
		got := call("createsearch", `[[{"desc":"`+text+`","range":[2,4],"gap":30}]]`)
		hardened := strings.Contains(form, "*h)")
		if (got == "") == hardened || hardened && !strings.HasPrefix(got, "-8 gap cannot be given for wpkh(tpub") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Annotations give the first height and the gap where the call does not. The descriptor is kept without them.
func TestAnnotatedObjects(t *testing.T) {
	k, call := caller(t)
	plain := "wpkh(" + keptPub + "/0/*)"
	for _, c := range []struct {
		params string
		start  int32
		gap    int32
	}{
		{`[["` + plain + `?bh=7&gl=30"]]`, 7, 30},
		{`[["` + plain + `?bh=7&gl=30"],{"start_height":3}]`, 3, 30},
		{`[["` + plain + `?bh=7&gl=30"],{"start_height":0}]`, 0, 30},
		{`[[{"desc":"` + plain + `?bh=7&gl=30","gap":5,"range":2}]]`, 7, 5},
		{`[["` + plain + `?bh=7&gl=0&ml=2&x=3"]]`, 7, 0},
		{`[["` + plain + `?bh=7","raw(51)?bh=5"]]`, 5, 0},
		{`[["` + plain + `?bh=7","raw(51)"]]`, 0, 0},
		{`[["` + plain + `"]]`, 0, 0},
	} {
		if got := call("createsearch", c.params); got != "" {
			t.Errorf("%s: %s", c.params, got)
		}
		q := &k.created
		gap := int32(0)
		if q.Objects.Gaps != nil {
			gap = q.Objects.Gaps[0]
		}
		if q.Start != c.start || gap != c.gap || q.Objects.Texts[0] != plain || q.Stop != -1 {
			t.Errorf("%s: from %d with gap %d: %v", c.params, q.Start, gap, q.Objects.Texts)
		}
	}
	sealed := descriptor.AddChecksum(plain + "?gl=30")
	if got := call("createsearch", `[["`+sealed+`"]]`); got != "" ||
		k.created.Objects.Texts[0] != descriptor.AddChecksum(plain) {
		t.Error(got, k.created.Objects.Texts)
	}
	private := descriptor.AddChecksum("wpkh(" + keptKey + "/1h/*)?gl=30")
	if got := call("createsearch", `[["`+private+`"]]`); got != "" ||
		!strings.HasPrefix(k.created.Objects.Texts[0], "wpkh([") || strings.Contains(k.created.Objects.Texts[0], "?") {
		t.Error(got, k.created.Objects.Texts)
	}
	for params, start := range map[string]int32{
		`["x",["raw(51)?bh=5"]]`: 5, `["x",["raw(51)?bh=5"],2]`: 2, `["x",["raw(51)?bh=5","raw(52)"]]`: -1,
		`["x",["raw(51)"]]`: -1,
	} {
		if got := call("extendsearch", params); got != "" || k.extended.Start != start {
			t.Errorf("%s: %s, from %d", params, got, k.extended.Start)
		}
	}
	k.err = messages.ErrBlockNotFound
	const annotated = "-1 Invalid height 5 that the descriptors are annotated with (bh): give start_height"
	for params, want := range map[string]string{
		`[["raw(51)?bh=5"]]`:                       annotated,
		`[["raw(51)?bh=5"],{"start_height":7}]`:    "-1 Invalid start_height",
		`[["raw(51)"],{"stop_height":7}]`:          "-1 Invalid start_height or stop_height",
		`[["raw(51)?gl=1&gl=2"]]`:                  "-5 Annotation 'gl' is given twice",
		`[["` + plain + `?gl=100001"]]`:            "-8 gl of a descriptor must not be above 100000",
		`[["raw(51)?bh=5"],{"start_height":null}]`: annotated,
	} {
		if got := call("createsearch", params); got != want {
			t.Errorf("%s: %s", params, got)
		}
	}
}
