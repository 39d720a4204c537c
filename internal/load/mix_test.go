package load

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParseMix(t *testing.T) {
	tests := []struct {
		text string
		want []Call // nil: refused
	}{
		{"status", []Call{{"status", "[]", 1}}},
		{"start:1,status:8,abort:1", []Call{{"start", "[]", 1}, {"status", "[]", 8}, {"abort", "[]", 1}}},
		{`getblockhash[0]:2,echo["a,:]",[1]],x`, []Call{{"getblockhash", "[0]", 2}, {"echo", `["a,:]",[1]]`, 1}, {"x", "[]", 1}}},
		{"a:1000000", []Call{{"a", "[]", 1_000_000}}},
		{"", nil},
		{",", nil},
		{"a,", nil},
		{"a:", nil},
		{"a:0", nil},
		{"a:-1", nil},
		{"a:1000001", nil},
		{"a:99999999999999999999", nil},
		{"a:x", nil},
		{"a b", nil},
		{"a[", nil},
		{"a[1", nil},
		{"a[1]2", nil},
		{"a{}", nil},
		{"[1]", nil},
		{"é", nil},
	}
	for _, test := range tests {
		got, err := ParseMix(test.text)
		if (err == nil) != (test.want != nil) || (err != nil && !errors.Is(err, ErrMix)) ||
			!slices.Equal(got.Calls, test.want) {
			t.Errorf("%q: got %v, %v; want %v", test.text, got.Calls, err, test.want)
		}
	}
}

// FuzzMix: what is read is written the same way, and can be chosen from.
func FuzzMix(f *testing.F) {
	for _, seed := range []string{"start:1,status:8,abort:1", `a[1,"x"]:2,b`, "a[", ",", "a[[]]:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMix(text)
		if err != nil {
			return
		}
		again, err := ParseMix(m.String())
		if err != nil || !slices.Equal(m.Calls, again.Calls) {
			t.Errorf("%q is read as %q, and that as %q, %v", text, m, again, err)
		}
		m.choose(rand.New(rand.NewPCG(1, 2)))
	})
}

func TestChoice(t *testing.T) {
	m, err := ParseMix("a:1,b:8,c:1")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var counts [3]int
	for range 10_000 {
		counts[m.choose(random)]++
	}
	for i, want := range []int{1000, 8000, 1000} {
		if counts[i] < want*9/10 || counts[i] > want*11/10 {
			t.Errorf("%s was chosen %d times, want about %d", m.Calls[i].Name, counts[i], want)
		}
	}
}
