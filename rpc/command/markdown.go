package command

import (
	"fmt"
	"strings"
)

// Markdown returns the documentation of all methods that are in the help list:
// a table of contents, then the help text of each.
func (t *Table) Markdown() string {
	var contents, texts strings.Builder
	category := ""
	for _, c := range t.sorted {
		if c.Category == Hidden {
			continue
		}
		if c.Category != category {
			category = c.Category
			title := strings.ToUpper(category[:1]) + category[1:]
			fmt.Fprintf(&contents, "\n**%s**\n", title)
			fmt.Fprintf(&texts, "\n## %s\n", title)
		}
		anchor := strings.ReplaceAll(c.Name, ".", "")
		fmt.Fprintf(&contents, "[`%s`](#%s)\n", c.Name, anchor)
		fmt.Fprintf(&texts, "\n### %s\n\n```text\n%s```\n", c.Name, c.Help())
	}
	return contents.String() + texts.String()
}

// Names returns the names that the parameters of a call by name may have, in
// positional order: of each the first, and those of options that may stand
// beside the others. Hidden parameters are left out.
func (c *Command) Names() []string {
	var names []string
	shown := Command{Params: c.visible()}
	for _, s := range shown.slots() {
		name, _, _ := strings.Cut(s.names, "|")
		names = append(names, name)
	}
	return names
}
