package miniscript

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vector is an expression with its properties according to Bitcoin Core.
type vector struct {
	Miniscript     string
	P2WSH          string // script, "invalid", or empty for any
	Tapscript      string
	NonMalleable   bool
	NeedsSignature bool
	TimelockMix    bool
	Ops            int
	Stack          *int
	ExecStack      int
}

func TestVectors(t *testing.T) {
	file, err := os.Open("testdata/core_vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, played := bufio.NewScanner(file), 0
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		checkVector(t, &v, P2WSH, v.P2WSH)
		checkVector(t, &v, Tapscript, v.Tapscript)
		played++
	}
	if lines.Err() != nil || played < 90 {
		t.Errorf("played %d vectors, %v", played, lines.Err())
	}
}

func checkVector(t *testing.T, v *vector, ctx Context, want string) {
	t.Helper()
	e, keys, err := parseText(v.Miniscript, ctx)
	valid := err == nil && e.root.valid(ctx) && e.root.typ.has("B")
	if valid != (want != "invalid") {
		t.Errorf("%s: valid: %v", v.Miniscript, valid)
	}
	if !valid || want == "invalid" {
		return
	}
	n := e.root
	if n.typ.has("m") != v.NonMalleable || n.typ.has("s") != v.NeedsSignature || n.typ.has("k") == v.TimelockMix {
		t.Errorf("%s: type %v", v.Miniscript, n.typ)
	}
	if v.Stack != nil && (n.maxOps() != v.Ops || n.maxWitness() != *v.Stack || n.maxStack() != v.ExecStack) {
		t.Errorf("%s: %d opcodes, %d elements, %d on the stack", v.Miniscript, n.maxOps(), n.maxWitness(), n.maxStack())
	}
	script := e.Compile().Script(keys.keyOf)
	if got := hex.EncodeToString(script); want != "" && got != want {
		t.Errorf("%s\n got %s\nwant %s", v.Miniscript, got, want)
	}
	checkRoundTrip(t, e, keys)
}

// checkRoundTrip prints a valid expression and parses the text, and compiles
// it and decodes the script.
func checkRoundTrip(tb interface {
	Helper()
	Fatalf(format string, args ...any)
}, e *Expression, keys *testKeys,
) {
	tb.Helper()
	text := string(e.AppendText(nil, keys.print))
	again, sameKeys, err := parseText(text, e.ctx)
	if err != nil {
		tb.Fatalf("prints %s: %v", text, err)
	}
	if got := string(again.AppendText(nil, sameKeys.print)); got != text {
		tb.Fatalf("prints %s, that prints %s", text, got)
	}
	script := e.Compile().Script(keys.keyOf)
	if len(script) != e.root.size {
		tb.Fatalf("%s: %d bytes, said to be %d: %x", text, len(script), e.root.size, script)
	}
	decoded, scriptKeys, ok := decodeScript(script, e.ctx)
	if !ok {
		tb.Fatalf("%s: cannot decode %x", text, script)
	}
	if got := decoded.Compile().Script(scriptKeys.keyOf); !bytes.Equal(got, script) {
		tb.Fatalf("%s: %x\nis decoded to %s: %x", text, script, decoded.AppendText(nil, scriptKeys.print), got)
	}
	if again.root.typ != e.root.typ || again.root.bounds != e.root.bounds || again.root.ops != e.root.ops {
		tb.Fatalf("%s: types %v and %v, bounds %v and %v", text, e.root.typ, again.root.typ, e.root.bounds, again.root.bounds)
	}
}

// TestProblems has one text for every reason to refuse an expression.
func TestProblems(t *testing.T) {
	const none = "fine"
	wrapped := strings.Repeat("n", maxTapscript-34) + ":pk(K0)"
	for _, test := range []struct {
		ctx        Context
		text, want string
	}{
		{P2WSH, "pk(K1)", none},
		{P2WSH, "0", "0 is not satisfiable"},
		{P2WSH, "1", "1 is not sane: witnesses without signature exist"},
		{P2WSH, "pk_k(K1)", "pk_k(K1) is not sane"},
		{P2WSH, "v:pk(K1)", "v:pk(K1) is not sane"},
		{P2WSH, "and_v(pk(K1),1)", "t:pk(K1) is invalid"},
		{P2WSH, "and_b(pk(K0),a:and_v(pk(K1),0))", "and_v(pk(K1),0) is invalid"},
		{P2WSH, "and_v(v:pk(K0),or_i(older(1),older(2)))", "or_i(older(1),older(2)) is not sane: malleable witnesses exist"},
		{
			P2WSH, "and_v(v:pk(K0),and_v(v:after(1),after(500000000)))",
			"and_v(v:after(1),after(500000000)) is not sane: contains mixes of timelocks expressed in blocks and seconds",
		},
		{
			P2WSH, "or_i(and_b(after(1),a:after(1000000000)),pk(K1))",
			"and_b(after(1),a:after(1000000000)) is not sane: contains mixes of timelocks expressed in blocks and seconds",
		},
		{P2WSH, "and_v(v:pk(K0),or_d(pk(K1),pkh(K1)))", "or_d(pk(K1),pkh(K1)) is not sane: contains duplicate public keys"},
		{P2WSH, "and_v(v:pk(K0),or_d(pk(K1),pkh(K0)))", "and_v(v:pk(K0),or_d(pk(K1),pkh(K0))) is not sane: contains duplicate public keys"},
		{P2WSH, "or_i(multi(1,K1,K2,K1),pk(K3))", "multi(1,K1,K2,K1) is not sane: contains duplicate public keys"},
		{P2WSH, "thresh(3,pk(K1),s:pk(K2),s:pk(K3),sdv:older(32))", "thresh(3,pk(K1),s:pk(K2),s:pk(K3),sdv:older(32)) is invalid"},
		{Tapscript, "thresh(3,pk(K1),s:pk(K2),s:pk(K3),sdv:older(32))", none},
		{P2WSH, manyKeys(0, 51), none},
		{P2WSH, manyKeys(0, 52), "a:" + manyKeys(1, 51) + " is not sane: needs witnesses that may exceed resource limits"},
		{P2WSH, manySignatures(15), none},
		{P2WSH, manySignatures(16), manySignatures(16) + " is not sane: needs witnesses that may exceed resource limits"},
		{Tapscript, manyKeys(0, 200), none},
		{Tapscript, nestedLocks(998), none},
		{Tapscript, nestedLocks(999), nestedLocks(999) + " is not sane: needs witnesses that may exceed resource limits"},
		{P2WSH, "and_v(v:pk(K0),0)", "and_v(v:pk(K0),0) is not satisfiable"},
		{Tapscript, wrapped, none},
		{Tapscript, "v" + wrapped, "v" + wrapped + " is invalid"},
	} {
		e, keys, err := parseText(test.text, test.ctx)
		if err != nil {
			t.Errorf("%.100s: %v", test.text, err)
			continue
		}
		got := none
		if problem := e.Check(); problem != nil {
			got = string(problem.AppendText(nil, keys.print)) + problem.Reason
		}
		if got != test.want {
			t.Errorf("%.100s\n got %.300s\nwant %.300s", test.text, got, test.want)
		}
	}
}

// manyKeys needs the signatures of n keys, and four opcodes for each but one.
func manyKeys(first, n int) string {
	var text strings.Builder
	for i := range n - 1 {
		text.WriteString("and_b(pk(K" + strconv.Itoa(first+i) + "),a:")
	}
	text.WriteString("pk(K" + strconv.Itoa(first+n-1) + ")" + strings.Repeat(")", n-1))
	return text.String()
}

// manySignatures needs 84 elements and one more than the given number of keys.
func manySignatures(keys int) string {
	var text strings.Builder
	next := 0
	multisig := func(keys int) {
		text.WriteString("multi(" + strconv.Itoa(keys))
		for range keys {
			text.WriteString(",K" + strconv.Itoa(next))
			next++
		}
		text.WriteString(")")
	}
	for range 4 {
		text.WriteString("and_v(v:")
		multisig(20)
		text.WriteString(",")
	}
	multisig(keys)
	return text.String() + "))))"
}

// nestedLocks leaves n+2 elements on the stack before it joins them.
func nestedLocks(n int) string {
	return strings.Repeat("and_b(older(1),a:", n) + "pk(K0)" + strings.Repeat(")", n)
}

func TestSyntax(t *testing.T) {
	for _, text := range []string{
		"", "2", "00", "pk(K0", "pk()", "pk(K0))", "pk(K0)x", " pk(K0)", ":pk(K0)", "x:pk(K0)", "vv:pk(K0)", "t",
		"older()", "older(0)", "older(-1)", "older(+1)", "older(1.0)", "older(2147483648)", "older(1", "older(1,2)",
		"after(99999999999999999999)", "sha256(00)", "sha256(zz)", "hash160(" + strings.Repeat("00", 32) + ")",
		"and_v(v:pk(K0))", "and_v(v:pk(K0),1,1)", "and_v(v:pk(K0)1)", "and_v(", "and_v(,)", "andor(0,1)",
		"thresh(pk(K0))", "thresh(0,pk(K0))", "thresh(2,pk(K0))", "thresh(+1,pk(K0))", "thresh(1,)", "thresh(1,pk(K0)",
		"thresh(9223372036854775807,pk(K0))", "thresh(9223372036854775808,pk(K0))",
		"multi(1)", "multi(1,)", "multi(0,K0)", "multi(2,K0)", "multi(+1,K0)", "multi(-1,K0)", "multi(1,K0", "multi_a(1,K0)",
		"multi(1" + strings.Repeat(",K0", 21) + ")", "unknown(K0)", "ripemd160a(00)",
		strings.Repeat("n", 3567) + ":pk(K0)", strings.Repeat("or_i(", 1e5), strings.Repeat("v", 1e6) + ":0",
	} {
		if _, _, err := parseText(text, P2WSH); err != ErrSyntax { //nolint:errorlint // not wrapped
			t.Errorf("%.100s: %v", text, err)
		}
	}
	for _, text := range []string{"pk(x)", "and_v(v:pk(K0),multi(0,x)", "multi(-1,x,K0)", "pk(K0,K1)"} {
		if _, _, err := parseText(text, P2WSH); err != errBadKey { //nolint:errorlint // not wrapped
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, _, err := parseText("multi(1,K0)", Tapscript); err != ErrSyntax { //nolint:errorlint // not wrapped
		t.Error(err)
	}
}

// TestUndecodable has scripts that are close to a miniscript.
func TestUndecodable(t *testing.T) {
	for _, script := range []string{
		"", "ac519c", "68", "b2", "ff", "4c", "01",
		"ba20c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5ba519c",
		"ac2079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ac20c6047f9441ed7d6d3045406e95c07cd85c778e4b" +
			"8cef3ca7abac09b95c709ee5ba519c",
		"0000210232780000feff00ffffffffffff21ff005f00ae21ae00000000060602060406564c2102320000060900fe00005f00ae21ae001000" +
			"00060606060606000000000000000000000000000000000000000000000000000000000000000000",
		"2103a0434d9e47f3c86235477c7b1ae6ae5d3442d49b1943c2b752a68e2a47e247c7ac6951",
		"0110b2", "0200b2", "020500b2", "0500000000" + "01b2",
	} {
		raw, err := hex.DecodeString(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, ctx := range []Context{P2WSH, Tapscript} {
			if e, keys, ok := decodeScript(raw, ctx); ok {
				t.Errorf("%s is decoded to %s", script, e.AppendText(nil, keys.print))
			}
		}
	}
}
