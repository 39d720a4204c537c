package command

import (
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// Help returns the help text of the command: the usage line, what it does,
// its parameters, what it returns and examples, laid out as Core does. It
// ends with a newline.
func (c *Command) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", c.Usage(), strings.TrimSpace(c.Summary))
	c.writeParams(&b)
	for i := range c.Results {
		writeResult(&b, &c.Results[i])
	}
	c.writeExamples(&b)
	if c.words != nil {
		return c.words.Replace(b.String())
	}
	return b.String()
}

func (c *Command) writeParams(b *strings.Builder) {
	var positional, byName layout
	for i := range c.visible() {
		p := &c.Params[i]
		positional.add(fmt.Sprintf("%d. %s", i+1, p.first()), p.describe())
		if p.Type != NamedOptions {
			positional.addParam(p, 5, inNothing)
			continue
		}
		for j := range p.Inner {
			byName.add(p.Inner[j].first(), p.Inner[j].describe())
			byName.addParam(&p.Inner[j], 5, inNothing)
		}
	}
	if len(positional.lines) > 0 {
		b.WriteString("\nArguments:\n" + positional.String())
	}
	if len(byName.lines) > 0 {
		b.WriteString("\nNamed Arguments:\n" + byName.String())
	}
}

// describe returns the type of p, whether it may be left out, and its help.
func (p *Param) describe() string {
	how := "required"
	switch {
	case p.Default != "":
		how = "optional, default=" + p.Default
	case p.Optional:
		how = "optional"
	}
	return fmt.Sprintf("(%s, %s) %s", p.typeText(), how, p.Help)
}

func (p *Param) typeText() string {
	if p.TypeText != "" {
		return p.TypeText
	}
	switch p.Type {
	case Amount:
		return "numeric or string"
	case Range:
		return "numeric or array"
	default:
		return p.Type.String()
	}
}

// String returns the word for t in help texts.
func (t Type) String() string {
	switch t {
	case String, Hex:
		return "string"
	case Number, Amount, Range, Timestamp:
		return "numeric"
	case Bool:
		return "boolean"
	case Array:
		return "json array"
	case Object, UserKeys, NamedOptions:
		return "json object"
	case Null:
		return "json null"
	default:
		return "any"
	}
}

// Where examples send their call.
const (
	exampleCLI = "trawl-cli"
	exampleURL = "http://127.0.0.1:8332/"
)

func (c *Command) writeExamples(b *strings.Builder) {
	if len(c.Examples) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, example := range c.Examples {
		params, err := jsontree.Parse([]byte(example))
		if err != nil { // Check refuses such an example
			continue
		}
		words := []string{"> " + exampleCLI, c.Name}
		if params.Kind() == jsontree.Object {
			words = []string{"> " + exampleCLI, "-named", c.Name}
		}
		for _, v := range params.Elements() {
			words = append(words, shellWord(v))
		}
		for name, v := range params.Members() {
			words = append(words, name+"="+shellWord(v))
		}
		fmt.Fprintln(b, strings.Join(words, " "))
	}
	for _, example := range c.Examples {
		fmt.Fprintf(b, "> curl --user myusername --data-binary "+
			"'{\"jsonrpc\": \"2.0\", \"id\": \"curltest\", \"method\": \"%s\", \"params\": %s}' "+
			"-H 'content-type: application/json' %s\n", c.Name, quoted(example), exampleURL)
	}
}

// shellWord returns an argument as it is typed at a prompt.
func shellWord(v *jsontree.Value) string {
	switch v.Kind() {
	case jsontree.Array, jsontree.Object:
		return "'" + quoted(v.String()) + "'"
	default:
		return v.String()
	}
}

// quoted is a text as it stands between single quotes of a shell.
func quoted(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }

// Help returns the help text of a method, for an unknown method a sentence that
// reports this, and for the empty name the list of all methods.
func (t *Table) Help(method string) string {
	if method == "" {
		return t.list()
	}
	c, ok := t.byName[method]
	if !ok {
		return "help: unknown command: " + method
	}
	return c.Help()
}

// makeList returns the usage lines of all methods that are listed, by category.
// Methods that make blocks for tests are not listed, as in Core.
func (t *Table) makeList() string {
	var b strings.Builder
	category := ""
	for _, c := range t.sorted {
		if c.Category == Hidden || c.Category == Generating || c.Unlisted {
			continue
		}
		if c.Category != category {
			if category != "" {
				b.WriteByte('\n')
			}
			category = c.Category
			fmt.Fprintf(&b, "== %s%s ==\n", strings.ToUpper(category[:1]), category[1:])
		}
		b.WriteString(c.Usage() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
