package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// Annotations give the first height and the gap where the call does not, and change nothing else.
func TestAnnotatedScan(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(4)
	r.chain.Mine(chaintest.Template{Script: []byte{0x52}})
	r.chain.MineN(3)
	r.realScanner()
	from := func(params string) string {
		var a struct {
			From   int32          `json:"from_height"`
			Blocks []string       `json:"relevant_blocks"`
			Ranges []widenedRange `json:"descriptors"`
		}
		text := r.call("scanblocks", params)
		if json.Unmarshal([]byte(text), &a) != nil {
			return text
		}
		answer := fmt.Appendf(nil, "%d: %d", a.From, len(a.Blocks))
		for _, d := range a.Ranges {
			answer = fmt.Appendf(answer, " %s gap %d to %d", d.Desc, d.Gap, d.Range[1])
		}
		return string(answer)
	}
	plain := "wpkh(" + testKey + "/0/*)"
	sealed := func(body string) string { return descriptor.AddChecksum(body) }
	for _, c := range [][2]string{
		{`["start",["raw(52)?bh=5"]]`, "5: 1"},
		{`["start",["` + sealed("raw(52)?bh=5&zz=1") + `"]]`, "5: 1"},
		{`["start",["raw(52)?bh=6","raw(53)?bh=7"]]`, "6: 0"},
		{`["start",["raw(52)?bh=6","raw(53)"]]`, "0: 1"},
		{`["start",["raw(52)?bh=6"],5]`, "5: 1"},
		{`["start",["raw(52)?bh=6"],0]`, "0: 1"},
		{`["start",["raw(52)?bh=6"],null,6]`, "6: 0"},
		{
			`["start",["raw(52)?bh=7"],null,6]`,
			"-1 The descriptors are annotated with height 7 (bh), which is above the last block 6: give start_height",
		},
		{
			`["start",["raw(52)?bh=99999999999"]]`,
			"-1 The descriptors are annotated with height 2147483647 (bh), which is above the last block 8: give " +
				"start_height",
		},
		{`["start",[{"desc":"` + plain + `?gl=30","range":3}]]`, "0: 0 " + plain + " gap 30 to 29"},
		{`["start",[{"desc":"` + sealed(plain+"?gl=30") + `","range":3}]]`, "0: 0 " + sealed(plain) + " gap 30 to 29"},
		{`["start",[{"desc":"` + plain + `?gl=30","range":3,"gap":7}]]`, "0: 0 " + plain + " gap 7 to 6"},
		{`["start",[{"desc":"` + plain + `?gl=0","range":3}]]`, "0: 0"},
		{`["start",["` + plain + `?gl=1500&bh=2"]]`, "2: 0 " + plain + " gap 1500 to 1499"},
		{`["start",["raw(52)?gl=30"]]`, "0: 1"},
		{`["start",["` + plain + `?gl=100001"]]`, "-8 gl of a descriptor must not be above 100000"},
		{`["start",["raw(52)?bh=05"]]`, "-5 'bh=05' is not a valid annotation"},
		{`["start",["raw(52)?"]]`, "-5 '' is not a valid annotation"},
		{`["start",["raw(52)?bh=1&bh=1"]]`, "-5 Annotation 'bh' is given twice"},
	} {
		if got := from(c[0]); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
	wrong := sealed("raw(52)?bh=5")
	wrong = strings.Replace(wrong, "bh=5", "bh=4", 1)
	if got := r.call("scanblocks", `["start",["`+wrong+`"]]`); !strings.HasPrefix(got, "-5 Provided checksum") {
		t.Error(got)
	}
	hash := r.chain.Active().At(5).Hash.String()
	got := r.call("getdescriptoractivity", `[["`+hash+`"],["raw(52)?bh=9",{"desc":"`+plain+`?gl=2","range":0}],false]`)
	if !strings.Contains(got, `"height":5`) || !strings.Contains(got, `"gap":2,`) {
		t.Error(got)
	}
	text := r.scanReceipt(`["start",["raw(52)?bh=5"],null,null,"basic",{"receipt":true}]`)
	if !strings.Contains(text, `"descriptors":[{"desc":"raw(52)"}]`) || !strings.Contains(text, `"from_height":5`) {
		t.Error(text)
	}
}

// Methods of Bitcoin Core that take no annotations refuse them as Bitcoin Core does.
func TestAnnotationsRefused(t *testing.T) {
	r := newRig(t, "regtest")
	coins := r.sys.Probe("coins")
	r.deps.Coins = coins.Ref
	r.build()
	done := r.start("scantxoutset", `["start",["raw(52)?bh=5"]]`)
	type reserve = ask.Call[messages.ReserveCoinScan, messages.ScanSlot]
	type release = ask.Call[messages.ReleaseCoinScan, messages.Done]
	actortest.Expect[*reserve](coins).Answer(messages.ScanSlot{ID: slot}, nil)
	actortest.Expect[*release](coins).Answer(messages.Done{}, nil)
	_, err := descriptor.Parse("raw(52)?bh=5", nil, descriptor.Options{})
	if got := <-done; err == nil || got != "-5 "+err.Error() {
		t.Errorf("%s, want %v", got, err)
	}
}
