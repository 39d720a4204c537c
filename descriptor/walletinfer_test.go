package descriptor_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// The public keys of the private keys 1 to 4, by letters that descriptors have not
// otherwise. O is the key of A with the other sign, X the x coordinate of A.
var inferKeys = strings.NewReplacer(
	"A", "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	"O", "0379be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	"X", "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	"B", "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
	"Y", "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
	"C", "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
	"Z", "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
	"D", "02e493dbf1c10d80f3581e4904930b1404cc6c13900ee0758474fa94abe8c4cd13",
)

// The description of a script is inferred from the script, not from the descriptor
// that it came from. The texts are from Bitcoin Core's getaddressinfo.
func TestSolveInfers(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		// The wrappers of and_v() are those of its last part: the script is the same.
		{"wsh(and_v(v:pk(A),t:or_c(pk(B),v:pk(C))))", "wsh(t:and_v(v:pk([751e76e8]A),or_c(pk([06afd46b]B),v:pk([7dd65592]C))))"},
		{"tr(D,n:and_v(v:pk(A),pk(B)))", "tr([c42e7ef9]e493dbf1c10d80f3581e4904930b1404cc6c13900ee0758474fa94abe8c4cd13," +
			"and_v(v:pk([751e76e8]X),n:pk([06afd46b]Y)))"},
		// A key behind a hash is shown with its sign.
		{"tr(B,pkh(O))", "tr([06afd46b]Y,pkh([adde4c73]O))"},
		{"tr(B,pk(O))", "tr([06afd46b]Y,pk([adde4c73]X))"},
		// Two origins of one key: in one function the last is put before the first.
		{"wsh(multi(2,[00000001/1]A,[00000002/2]A))", "wsh(multi(2,[00000002/2/1]A,[00000002/2/1]A))"},
		{"tr([00000001/1]A,pk([00000002/2]A))", "tr([00000001/1]X,pk([00000001/1]X))"},
		// A leaf that has a key twice cannot be described.
		{"tr(B,and_v(v:pk(O),pk(A)))", "rawtr(fe)"},
		{"tr(B,{pk(C),and_v(v:pk(O),pk(A))})", "rawtr(fe)"},
		// Sorted keys are in their order, and the lower script is first.
		{"wsh(sortedmulti(1,C,A))", "wsh(multi(1,[751e76e8]A,[7dd65592]C))"},
		{"tr(B,{pk(C),pk(A)})", "tr([06afd46b]Y,{pk([751e76e8]X),pk([7dd65592]Z)})"},
		{"tr(B,{{pk(C),pk(A)},pk(A)})", "tr([06afd46b]Y,{pk([751e76e8]X),{pk([751e76e8]X),pk([7dd65592]Z)}})"},
	} {
		d := parse(t, descriptor.AddChecksum(inferKeys.Replace(test.text)), regtest)
		scripts, err := d.Expand(0)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		s, err := d.Solve(0, scripts[0])
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		want := descriptor.AddChecksum(inferKeys.Replace(test.want))
		if test.want == "rawtr(fe)" { // the output key has no origin
			want = descriptor.AddChecksum("rawtr(" + hex.EncodeToString(scripts[0][2:]) + ")")
		}
		if s.Text != want || !s.Solvable {
			t.Errorf("%s: got %s, want %s", test.text, s.Text, want)
		}
	}
}

// InferWitness describes an output from the witness script that it pays to.
func TestInferWitness(t *testing.T) {
	for script, want := range map[string]string{
		"21A.ad0111b2":         "wsh(and_v(v:pk(A),older(17)))",
		"00":                   "wsh(0)",
		"51":                   "",
		"5121A.51ae":           "wsh(multi(1,A))",
		"21A.ac":               "wsh(pk(A))",
		"20X.ac":               "",
		"63006821A.ac":         "",
		"21A.ad21A.ac":         "", // twice the same key
		"21A.ac6421B.ad01b2b2": "",
	} {
		raw, err := hex.DecodeString(strings.ReplaceAll(inferKeys.Replace(script), ".", ""))
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		got := descriptor.InferWitness(raw, regtest)
		switch {
		case want == "" && !strings.HasPrefix(got, "addr("):
			t.Errorf("%s: got %s, want an address", script, got)
		case want != "" && got != descriptor.AddChecksum(inferKeys.Replace(want)):
			t.Errorf("%s: got %s, want %s", script, got, want)
		}
	}
}
