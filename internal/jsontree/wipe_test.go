package jsontree

import (
	"strings"
	"testing"
)

// TestWipe looks at strings after they were overwritten.
func TestWipe(t *testing.T) {
	constant := NewString("of the program")
	for _, text := range []string{"plain text", "x", "", "é and more", `with \n`, "\u0041\u0042", strings.Repeat("long", 1000)} {
		v, err := Parse([]byte(`{"a":[1,true,null,"` + text + `",{"b":"` + text + `"}],"c":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		v.Add("d", constant)
		held := []string{v.Get("a").At(3).Text(), v.Get("a").At(4).Get("b").Text()}
		v.Wipe()
		v.Wipe()
		for _, s := range held {
			if len(s) > 1 && strings.Trim(s, "\x00") != "" {
				t.Errorf("%q: %q is left", text, s)
			}
		}
		if v.Get("a").At(0).Text() != "1" || constant.Text() != "of the program" {
			t.Error("overwrote too much")
		}
	}
	(*Value)(nil).Wipe()
	NewNull().Wipe()
}

// TestWipeOfPart looks at what was read of a text before it proved to be no JSON.
func TestWipeOfPart(t *testing.T) {
	for _, end := range []string{`]`, `,`, `,1 2`, `,"x`, `,"\q"`, `]} `} {
		p := parser{src: []byte(`{"a":["secret","` + "\\u0041secret" + `"` + end)}
		v, ok := p.value(0)
		if ok && end != `]} ` {
			t.Fatalf("%q is JSON", end)
		}
		held := []string{v.Get("a").At(0).Text(), v.Get("a").At(1).Text()}
		if held[0] != "secret" || held[1] != "Asecret" {
			t.Fatalf("%q: %q", end, held)
		}
		v.Wipe()
		for _, s := range held {
			if strings.Contains(s, "secret") {
				t.Errorf("%q: %q is left", end, s)
			}
		}
	}
}
