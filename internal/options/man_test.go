package options

import (
	"strings"
	"testing"
)

// A manual page has every option of -help-debug, and no text of it is a request.
func TestManual(t *testing.T) {
	s := New([]Option{
		{Name: "one", Arg: "<n>", Help: ".begins with a dot, and has a back\\slash and a-dash"},
		{Name: "two", Help: "'quoted'", Flags: Debug},
		{Name: "three", Help: "no effect", Flags: Unused, Category: RPC},
		{Name: "four", Help: "unseen", Flags: Hidden},
	}, "~/.x")
	p := &Program{Name: "pro-gram", Purpose: "does it", About: "One.\n\nTwo,\nthree.\n", Usage: []string{"[a]", "b"}}
	got := Manual(s, p, ManSection{Title: "MORE", Text: "x\n\n  as it\n  is", Terms: []Term{{"-w", "word"}}})
	want := `.\" Made from the tables of options and methods: go generate ./cmd/...
.TH "PRO\-GRAM" "1" "" "Trawl"
.SH NAME
pro\-gram \- does it
.SH SYNOPSIS
.B pro\-gram
[a]
.br
.B pro\-gram
b
.SH DESCRIPTION
One.
.PP
Two, three.
.SH OPTIONS
.SS Options
.TP
.B \-one=<n>
\&.begins with a dot, and has a back\(rsslash and a\-dash
.TP
.B \-two
\&'quoted'
.SS RPC server options
.TP
.B \-three
no effect (has no effect in this version)
.SH MORE
x
.PP
.nf
  as it
  is
.fi
.TP
.B \-w
word
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	got = ConfigManual(s, "x.conf", "y", ManSection{Title: "DESCRIPTION", Text: "z"})
	if !strings.Contains(got, ".TP\n.B one=<n>\n") || !strings.Contains(got, ".TP\n.B two=1\n") ||
		strings.Contains(got, "four") {
		t.Errorf("got\n%s", got)
	}
}
