package options

import (
	"fmt"
	"strings"
)

// A Program is what is said of a program besides its options, in -help and in its manual
// page.
type Program struct {
	Name    string   // as it is called
	Title   string   // what it is, in -version
	Purpose string   // one line of the manual page
	About   string   // paragraphs with a blank line between them, each line as -help shows it
	Usage   []string // the command lines, without the name
}

// A ManSection is a section of a manual page.
type ManSection struct {
	Title string
	Text  string // paragraphs with a blank line between them
	Terms []Term // after the text
}

// A Term is a word of a manual page and what it means.
type Term struct{ Word, Text string }

// Manual returns the manual page of a program in the language of man(7): the text of
// -help, with the options for developers, and more sections after it.
func Manual(s *Settings, p *Program, more ...ManSection) string {
	var m manual
	m.head(p.Name, 1, p.Purpose)
	m.line(".SH SYNOPSIS")
	for i, usage := range p.Usage {
		if i > 0 {
			m.line(".br")
		}
		m.line(".B " + roff(p.Name))
		m.line(roff(usage))
	}
	m.section(&ManSection{Title: "DESCRIPTION", Text: p.About})
	m.line(".SH OPTIONS")
	m.options(described(s, true), "-")
	for i := range more {
		m.section(&more[i])
	}
	return m.String()
}

// ConfigManual returns the manual page of the configuration file, which takes the same
// options without their dash.
func ConfigManual(s *Settings, name, purpose string, about ...ManSection) string {
	var m manual
	m.head(name, 5, purpose)
	for i := range about {
		m.section(&about[i])
	}
	m.line(".SH OPTIONS")
	m.options(described(s, true), "")
	return m.String()
}

// manual is a page that is being written.
type manual struct{ strings.Builder }

func (m *manual) line(text string) { m.WriteString(text + "\n") }

func (m *manual) head(name string, section int, purpose string) {
	m.line(`.\" Made from the tables of options and methods: go generate ./cmd/...`)
	m.line(fmt.Sprintf(`.TH "%s" "%d" "" "Trawl"`, strings.ToUpper(roff(name)), section))
	m.line(".SH NAME")
	m.line(roff(name) + ` \- ` + roff(purpose))
}

func (m *manual) section(of *ManSection) {
	m.line(".SH " + roff(of.Title))
	m.paragraphs(of.Text)
	for _, term := range of.Terms {
		m.line(".TP")
		m.line(".B " + roff(term.Word))
		m.paragraphs(term.Text)
	}
}

// paragraphs writes lines that do not begin with a space as running text, and those that
// do as they are.
func (m *manual) paragraphs(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if !strings.HasPrefix(paragraph, " ") {
			m.line(roff(strings.Join(strings.Fields(paragraph), " ")))
			continue
		}
		m.line(".nf")
		for line := range strings.SplitSeq(paragraph, "\n") {
			m.line(roff(line))
		}
		m.line(".fi")
	}
}

func (m *manual) options(shown []*Option, dash string) {
	for i, o := range shown {
		if i == 0 || shown[i-1].Category != o.Category {
			m.line(".SS " + roff(strings.TrimSuffix(titles[o.Category], ":")))
		}
		m.line(".TP")
		word := dash + o.Name
		switch {
		case o.Arg != "":
			word += "=" + o.Arg
		case dash == "":
			word += "=1"
		}
		m.line(".B " + roff(word))
		m.paragraphs(o.text())
	}
}

// roff escapes a text: nothing in it is a request or an escape, and a dash stays an
// ASCII minus.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "…", "...", "–", `\(en`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
