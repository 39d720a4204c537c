package options

import (
	"cmp"
	"slices"
	"strings"
)

// The help text has Core's form: 79 columns, options at 2, text at 7.
const (
	helpWidth  = 79
	nameIndent = "  "
	textIndent = "       "
)

// HelpAsked reports whether -help or one of its other names was given.
func (s *Settings) HelpAsked() bool {
	return slices.ContainsFunc([]string{"?", "h", "help", "help-debug"}, func(name string) bool {
		return s.options[name] != nil && s.IsSet(name)
	})
}

// Help returns the text that describes all options, by category and name. With
// -help-debug those for developers are in it.
func (s *Settings) Help() string {
	debug := s.options["help-debug"] != nil && s.Bool("help-debug", false)
	shown := make([]*Option, 0, len(s.order))
	for _, name := range s.order {
		o := s.options[name]
		if !o.has(Hidden) && (debug || (!o.has(Debug) && o.Category != WalletDebug)) {
			shown = append(shown, o)
		}
	}
	slices.SortFunc(shown, func(a, b *Option) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), strings.Compare(a.Name, b.Name))
	})
	var b strings.Builder
	for i, o := range shown {
		if i == 0 || shown[i-1].Category != o.Category {
			b.WriteString(titles[o.Category] + "\n\n")
		}
		b.WriteString(nameIndent + "-" + o.Name)
		if o.Arg != "" {
			b.WriteString("=" + o.Arg)
		}
		text := o.Help
		if o.has(Unused) {
			text += " (has no effect in this version)"
		}
		b.WriteString("\n" + textIndent + Wrap(text, helpWidth-len(textIndent), textIndent) + "\n\n")
	}
	return b.String()
}

// Wrap breaks text into lines of at most width bytes, where words allow it; all
// lines but the first begin with indent.
func Wrap(text string, width int, indent string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) <= width:
			b.WriteByte(' ')
			column++
		default:
			b.WriteString("\n" + indent)
			column = 0
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
