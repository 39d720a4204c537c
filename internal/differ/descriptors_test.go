package differ_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
)

// batch is how many calls are sent at a time.
const batch = 200

// TestDescriptors compares what is said of descriptors made by chance, most of
// them right, some damaged.
func TestDescriptors(t *testing.T) {
	p := differ.Start(t, differ.Config{}, differ.Exception{
		Reason: "lock times that do not lock: only here getdescriptorinfo tells of them",
		Is: func(_ differ.Call, got differ.Replies) bool {
			without := lockWarnings.ReplaceAllString(got.Trawl.String(), "}")
			return got.Trawl.OK() && without == got.Core.String()
		},
	})
	d := descriptors{keys{differ.Random(t)}}
	for left := differ.Cases(t, 4000); left > 0; left -= batch {
		calls := make([]differ.Call, batch)
		for i := range calls {
			calls[i] = d.call()
		}
		p.Send(calls...)
	}
	p.Alive()
}

var lockWarnings = regexp.MustCompile(`,"warnings":\["(?:height|time)-based relative locktime[^\]]*\]\}$`)

// descriptors makes descriptors by chance.
type descriptors struct{ keys }

// call asks about a descriptor, with its checksum as the question wants it.
func (d descriptors) call() differ.Call {
	text := d.top()
	if d.IntN(10) == 0 {
		text = d.damage(text)
	}
	if d.IntN(2) == 0 {
		return differ.Call{Method: "getdescriptorinfo", Params: []any{text}}
	}
	if sum, ok := descriptor.Checksum(text); ok && d.IntN(20) != 0 {
		text += "#" + sum
	}
	params := []any{text}
	switch {
	case d.IntN(40) == 0:
		params = append(params, []int{d.IntN(5) - 1, d.IntN(5) - 1})
	case strings.Contains(text, "*"):
		params = append(params, d.IntN(3))
	}
	return differ.Call{Method: "deriveaddresses", Params: params}
}

// damage changes a letter, leaves some out, or doubles some.
func (d descriptors) damage(text string) string {
	if text == "" {
		return text
	}
	at := d.IntN(len(text))
	to := min(len(text), at+1+d.IntN(3))
	switch d.IntN(4) {
	case 0:
		return text[:at] + text[to:]
	case 1:
		return text[:to] + text[at:]
	case 2:
		const letters = "(){}[]<>;,/*'h#0123456789abcdefxpubtrv: "
		return text[:at] + string(letters[d.IntN(len(letters))]) + text[at+1:]
	default:
		return text[:at]
	}
}

func (d descriptors) top() string {
	switch d.IntN(12) {
	case 0:
		return "pk(" + d.any() + ")"
	case 1:
		return "pkh(" + d.any() + ")"
	case 2:
		return "wpkh(" + d.any() + ")"
	case 3:
		return "sh(wpkh(" + d.any() + "))"
	case 4:
		return "combo(" + d.any() + ")"
	case 5:
		return "sh(" + d.multi("multi", "sortedmulti") + ")"
	case 6:
		return "wsh(" + d.multi("multi", "sortedmulti") + ")"
	case 7:
		return "wsh(" + d.miniscript(3, false) + ")"
	case 8:
		return "sh(wsh(" + d.miniscript(2, false) + "))"
	case 9:
		return "rawtr(" + d.any() + ")"
	case 10:
		return "tr(" + d.internalKey() + ")"
	default:
		return "tr(" + d.internalKey() + "," + d.tree(3) + ")"
	}
}

func (d descriptors) internalKey() string {
	if d.IntN(6) != 0 {
		return d.any()
	}
	return "musig(" + d.any() + "," + d.any() + ")" + [...]string{"", "/0", "/0/*", "/<0;1>/*"}[d.IntN(4)]
}

func (d descriptors) tree(depth int) string {
	if depth == 0 || d.IntN(2) == 0 {
		switch d.IntN(5) {
		case 0:
			return "pk(" + d.any() + ")"
		case 1:
			return d.multi("multi_a", "sortedmulti_a")
		default:
			return d.miniscript(2, true)
		}
	}
	return "{" + d.tree(depth-1) + "," + d.tree(depth-1) + "}"
}

func (d descriptors) multi(names ...string) string {
	n := 1 + d.IntN(4)
	list := make([]string, n)
	for i := range list {
		list[i] = d.any()
	}
	return fmt.Sprintf("%s(%d,%s)", names[d.IntN(len(names))], d.IntN(n+1)+min(1, d.IntN(20)), strings.Join(list, ","))
}

// miniscript returns an expression, which is sane more often than not.
func (d descriptors) miniscript(depth int, tapscript bool) string {
	key := func() string { return "pk(" + d.any() + ")" }
	if depth == 0 {
		switch d.IntN(6) {
		case 0:
			return "pkh(" + d.any() + ")"
		default:
			return key()
		}
	}
	inner := func() string { return d.miniscript(depth-1, tapscript) }
	switch d.IntN(11) {
	case 0:
		return "and_v(v:" + key() + "," + inner() + ")"
	case 1:
		return "or_d(" + key() + "," + inner() + ")"
	case 2:
		return "or_i(" + inner() + "," + inner() + ")"
	case 3:
		return "andor(" + key() + "," + inner() + "," + inner() + ")"
	case 4:
		return fmt.Sprintf("and_v(v:%s,older(%d))", key(), d.IntN(70000))
	case 5:
		return fmt.Sprintf("and_v(v:%s,after(%d))", key(), d.IntN(600_000_000))
	case 6:
		return fmt.Sprintf("and_v(v:%s,sha256(%x))", key(), d.bytes(32))
	case 7:
		return fmt.Sprintf("thresh(%d,%s,s:%s,sln:older(%d))", 1+d.IntN(3), key(), key(), 1+d.IntN(100))
	case 8:
		if tapscript {
			return d.multi("multi_a")
		}
		return d.multi("multi")
	case 9:
		return fmt.Sprintf("and_b(%s,a:%s)", key(), key())
	default:
		return [...]string{"", "s:", "j:", "n:", "l:", "u:", "t:v:", "d:v:"}[d.IntN(8)] + inner()
	}
}
