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
	shown := described(s, s.options["help-debug"] != nil && s.Bool("help-debug", false))
	var b strings.Builder
	for i, o := range shown {
		if i == 0 || shown[i-1].Category != o.Category {
			b.WriteString(titles[o.Category] + "\n\n")
		}
		b.WriteString(nameIndent + "-" + o.Name)
		if arg := s.dialect().arg(o); arg != "" {
			b.WriteString("=" + arg)
		}
		b.WriteString("\n" + textIndent + Wrap(s.dialect().helpText(o), helpWidth-len(textIndent), textIndent) + "\n\n")
	}
	return b.String()
}

// described returns the options that a text describes, by category and name, with those for
// developers or without.
func described(s *Settings, debug bool) []*Option {
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
	return shown
}

// text is what an option does.
func (o *Option) text() string {
	if o.has(Unused) {
		return o.Help + " (has no effect in this version)"
	}
	return o.Help
}

// Introduction returns the text of -help and -version: a Program, by its name in the dialect, and its options.
func Introduction(s *Settings, p *Program, version, licence string) string {
	title, own := p.Title, NamesOf(s.Dialect()).Own
	if own != bitcoinNames.Own {
		title = strings.Replace(title, bitcoinNames.Own, own, 1)
		version += " (" + bitcoinNames.Own + ")"
	}
	text := title + " version " + version + "\n"
	if s.Bool("version", false) {
		return text + licence
	}
	var b strings.Builder
	b.WriteString(text + "\n" + p.About + "\n")
	for i, usage := range p.Usage {
		label := "Usage: "
		if i > 0 {
			label = "or:    "
		}
		b.WriteString(label + p.Name + " " + usage + "\n")
	}
	return b.String() + "\n\n" + s.Help()
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
