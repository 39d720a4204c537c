package command

import (
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// openRPCVersion is the version of the OpenRPC specification that is followed.
const openRPCVersion = "1.4.1"

// OpenRPC returns a description of all methods for programs, after the OpenRPC
// specification (https://spec.open-rpc.org), to be written by jsontree.Append.
// title and version are the service's. Methods stand in the order of
// [Table.Commands], those of the category [Hidden], and hidden parameters, only if wanted; their category is a tag.
// Members that the specification does not have begin with "x-".
func (t *Table) OpenRPC(title, version string, hidden bool) jsontree.Members {
	methods := make([]jsontree.Members, 0, len(t.sorted))
	for _, c := range t.sorted {
		if hidden || c.Category != Hidden {
			methods = append(methods, c.openRPC(hidden))
		}
	}
	return jsontree.Members{
		{Key: "openrpc", Value: openRPCVersion},
		{Key: "info", Value: jsontree.Members{{Key: "title", Value: title}, {Key: "version", Value: version}}},
		{Key: "methods", Value: methods},
	}
}

func (c *Command) openRPC(hidden bool) jsontree.Members {
	summary := strings.Join(strings.Fields(c.Summary), " ")
	first, _, more := strings.Cut(summary, ". ")
	m := jsontree.Members{{Key: "name", Value: c.Name}, {Key: "summary", Value: strings.TrimSuffix(first, ".")}}
	if more {
		m = append(m, jsontree.Member{Key: "description", Value: strings.TrimSpace(c.Summary)})
	}
	params := make([]jsontree.Members, 0, len(c.Params))
	for i := range c.Params {
		if p := &c.Params[i]; hidden || !p.Hidden {
			params = append(params, p.openRPC())
		}
	}
	m = append(m,
		jsontree.Member{Key: "x-about", Value: c.About.String()},
		jsontree.Member{Key: "x-effect", Value: c.Effect.names()},
	)
	if at := c.At.names(); len(at) > 0 {
		m = append(m, jsontree.Member{Key: "x-at", Value: at})
	}
	if c.Own {
		m = append(m, jsontree.Member{Key: "x-own", Value: true})
	}
	m = addVersions(m, c.Since, c.Until)
	return append(m,
		jsontree.Member{Key: "tags", Value: []jsontree.Members{{{Key: "name", Value: c.Category}}}},
		jsontree.Member{Key: "paramStructure", Value: "either"},
		jsontree.Member{Key: "params", Value: params},
		jsontree.Member{Key: "result", Value: jsontree.Members{
			{Key: "name", Value: "result"}, {Key: "schema", Value: resultsSchema(c.Results)},
		}},
		jsontree.Member{Key: "examples", Value: c.openRPCExamples()},
	)
}

// openRPC returns the content descriptor of a parameter.
func (p *Param) openRPC() jsontree.Members {
	m := jsontree.Members{{Key: "name", Value: p.first()}}
	m = addText(m, "description", p.Help)
	m = append(m,
		jsontree.Member{Key: "required", Value: !p.optional()},
		jsontree.Member{Key: "schema", Value: p.schema()},
	)
	if aliases := strings.Split(p.Name, "|")[1:]; len(aliases) > 0 {
		m = append(m, jsontree.Member{Key: "x-aliases", Value: aliases})
	}
	if p.Hidden {
		m = append(m, jsontree.Member{Key: "x-hidden", Value: true})
	}
	return addVersions(m, p.Since, 0)
}

// openRPCExamples returns the example calls; they have no results.
func (c *Command) openRPCExamples() []jsontree.Members {
	var examples []jsontree.Members
	for i, example := range c.Examples {
		values, err := jsontree.Parse([]byte(example))
		if err != nil { // Check refuses such an example
			continue
		}
		var params []jsontree.Members
		for j, v := range values.Elements() {
			if j < len(c.Params) {
				params = append(
					params, jsontree.Members{{Key: "name", Value: c.Params[j].first()}, {Key: "value", Value: v}},
				)
			}
		}
		examples = append(examples, jsontree.Members{
			{Key: "name", Value: fmt.Sprintf("%s %d", c.Name, i+1)}, {Key: "params", Value: params},
		})
	}
	return examples
}

// addVersions adds which versions of Bitcoin Core have something first and no more, where they are said.
func addVersions(m jsontree.Members, since, until int) jsontree.Members {
	if since > 0 {
		m = append(m, jsontree.Member{Key: "x-since", Value: since})
	}
	if until > 0 {
		m = append(m, jsontree.Member{Key: "x-until", Value: until})
	}
	return m
}

// addText adds a member unless its text is empty.
func addText(m jsontree.Members, key, text string) jsontree.Members {
	if text == "" {
		return m
	}
	return append(m, jsontree.Member{Key: key, Value: text})
}
