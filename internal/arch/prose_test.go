package arch

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxSentenceWords    = 32
	maxSentenceRelative = 3 // words such as "which" in a sentence
)

var (
	sentenceEnd = regexp.MustCompile(`[.!?]\s+[A-Z]`)
	relative    = regexp.MustCompile(`(?i)\b(that|which|what|who|whose|whom|where|when)\b`)
	docLink     = regexp.MustCompile(`\[([^\]]+)\]`)
)

// A knot is a way to say something that has to be read twice.
type knot struct {
	name string
	in   *regexp.Regexp
}

var knots = []knot{
	{"ends in so", regexp.MustCompile(
		`\b(is|are|was|be|does|do|did|has|have|stays?|goes) so( too| anyway| then)?[.:;]?$|\bso[.]$`)},
	{"begins with What or Who", regexp.MustCompile(`^(And |But |For |So )?(What|Who|Whoever|Whose|Whatever) `)},
	{"of what is", regexp.MustCompile(`\b(of|by|with|for|from|to|in|as|says|tells|knows|see) (what|who) ` +
		`(is|are|was|has|have|it|they|was|comes|came)\b`)},
	{"one in place of a noun", regexp.MustCompile(`\b(one|ones) (that|which|who|whose|of which|it)\b|\bthat one\b|` +
		`\bOne (that|which|with|whose|is|has|of)\b|\banother one\b`)},
	{"those in place of a noun", regexp.MustCompile(
		`^(Those|That of|Of (those|that|what|which|one)|By (that|which|what)) `)},
	{"a program is no who", regexp.MustCompile(`\b(who|whoever) (waits?|asks?|reads?|listens?|publishes|calls?|uses|` +
		`holds|has|wants?|knows?|comes?|may|can|pays?)\b`)},
	{"ends in a pronoun", regexp.MustCompile(`\b(of|by|from|with|for|to|at) (it|that|them|those|which|whom)[.]$`)},
}

// prose finds sentences of comments that have to be read twice.
func prose(found tally, f *folder) {
	for _, file := range slices.Concat(f.files, f.tests) {
		if ast.IsGenerated(file) {
			continue
		}
		for _, group := range file.Comments {
			for _, s := range sentences(group) {
				if why := knotted(s); why != "" {
					found.add("sentences", f, group.Pos(), "%s: %s", why, s)
				}
			}
		}
	}
}

// sentences returns the sentences of a comment, without its directives and its code.
func sentences(group *ast.CommentGroup) (list []string) {
	var words []string
	for line := range strings.Lines(docLink.ReplaceAllString(group.Text(), "$1")) {
		if !strings.HasPrefix(line, "\t") {
			words = append(words, strings.Fields(line)...)
		}
	}
	text := strings.Join(words, " ")
	for {
		end := sentenceEnd.FindStringIndex(text)
		if end == nil {
			return append(list, text)
		}
		list, text = append(list, text[:end[0]+1]), text[end[1]-1:]
	}
}

// knotted returns why a sentence has to be read twice; empty: it need not be.
func knotted(s string) string {
	if len(strings.Fields(s)) > maxSentenceWords {
		return "more than 32 words"
	}
	if len(relative.FindAllString(s, -1)) > maxSentenceRelative {
		return "too many clauses"
	}
	for _, k := range knots {
		if k.in.MatchString(s) {
			return k.name
		}
	}
	return ""
}

// Each kind of knot is found, and plain sentences are not.
func TestKnotted(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"The wallet says that it is so.", "Who waits is answered.", "The news of what is found.",
		"A block, or another one.", "Those are kept.", "Nobody who waits is forgotten.", "The lock is taken by it.",
		"It returns what the one which holds that lock has when it ends.", strings.Repeat("word ", 33),
	} {
		if knotted(s) == "" {
			t.Errorf("%q is not found", s)
		}
	}
	for _, s := range []string{
		"Callers wait until the block is on the disk.", "A restarted actor opens its file again.",
		"One caller at a time may scan.", strings.Repeat("word ", 32),
	} {
		if why := knotted(s); why != "" {
			t.Errorf("%q: %s", s, why)
		}
	}
	group := &ast.CommentGroup{List: []*ast.Comment{
		{Text: "//nolint:gosec // not read"},
		{Text: "// A [Lock] is held. It"},
		{Text: "// ends."},
		{Text: "//"},
		{Text: "//	so it is so."},
	}}
	if got := sentences(group); !slices.Equal(got, []string{"A Lock is held.", "It ends."}) {
		t.Errorf("%q", got)
	}
}
