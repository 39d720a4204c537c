package command

import (
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// schema returns the JSON Schema of a parameter: as narrow as its declaration,
// and anything where the method itself checks the type.
func (p *Param) schema() jsontree.Members {
	var m jsontree.Members
	switch {
	case p.AnyType:
		m = addText(m, "x-type", p.TypeText)
	case p.Type == Array:
		m = append(typed("array"), jsontree.Member{Key: "items", Value: paramsSchema(p.Inner)})
	case p.Type == UserKeys:
		m = append(typed("object"), jsontree.Member{Key: "additionalProperties", Value: paramsSchema(p.Inner)})
	case p.Type == Object || p.Type == NamedOptions:
		m = p.objectSchema()
	default:
		m = p.Type.schema()
	}
	if p.Default == "" {
		return m
	}
	want, checked := p.Type.json()
	if v, err := jsontree.Parse([]byte(p.Default)); err == nil && checked && v.Kind() == want {
		return append(m, jsontree.Member{Key: "default", Value: v})
	}
	return append(m, jsontree.Member{Key: "x-default", Value: p.Default})
}

func (p *Param) objectSchema() jsontree.Members {
	m := typed("object")
	var properties jsontree.Members
	var required []string
	for i := range p.Inner {
		inner := &p.Inner[i]
		schema := addText(inner.schema(), "description", inner.Help)
		schema = addVersions(schema, inner.Since, 0)
		for name := range strings.SplitSeq(inner.Name, "|") {
			properties = append(properties, jsontree.Member{Key: name, Value: schema})
		}
		if !inner.optional() {
			required = append(required, inner.first())
		}
	}
	if len(properties) > 0 {
		m = append(m, jsontree.Member{Key: "properties", Value: properties})
	}
	if len(required) > 0 {
		m = append(m, jsontree.Member{Key: "required", Value: required})
	}
	if p.Type == NamedOptions {
		m = append(m, jsontree.Member{Key: "x-also-by-name", Value: true})
	}
	return m
}

// paramsSchema is what an element may be: one of several.
func paramsSchema(inner []Param) jsontree.Members {
	schemas := make([]jsontree.Members, len(inner))
	for i := range inner {
		schemas[i] = addText(inner[i].schema(), "description", inner[i].Help)
	}
	return anyOf(schemas)
}

// resultsSchema is what a method returns: one of several.
func resultsSchema(results []Result) jsontree.Members {
	var schemas []jsontree.Members
	for i := range results {
		if r := &results[i]; r.Type != Elision {
			schemas = append(schemas, addText(r.schema(), "x-when", r.When))
		}
	}
	return anyOf(schemas)
}

// schema returns the JSON Schema of a result.
func (r *Result) schema() jsontree.Members {
	var m jsontree.Members
	switch r.Type {
	case Array:
		m = append(typed("array"), jsontree.Member{Key: "items", Value: resultsSchema(r.Inner)})
	case UserKeys:
		m = append(typed("object"), jsontree.Member{Key: "additionalProperties", Value: resultsSchema(r.Inner)})
	case Object:
		m = r.objectSchema()
	case Amount:
		m = typed("number")
	default:
		m = r.Type.schema()
	}
	if r.OrFalse {
		m = anyOf([]jsontree.Members{m, append(typed("boolean"), jsontree.Member{Key: "const", Value: false})})
	}
	return addVersions(addText(m, "description", r.Help), r.Since, r.Until)
}

func (r *Result) objectSchema() jsontree.Members {
	m := typed("object")
	var properties jsontree.Members
	var required []string
	for i := range r.Inner {
		inner := &r.Inner[i]
		if inner.Type == Elision {
			continue
		}
		properties = append(properties, jsontree.Member{Key: inner.Key, Value: inner.schema()})
		if !inner.Optional && inner.Since == 0 && inner.Until == 0 {
			required = append(required, inner.Key)
		}
	}
	if len(properties) > 0 {
		m = append(m, jsontree.Member{Key: "properties", Value: properties})
	}
	if len(required) > 0 {
		m = append(m, jsontree.Member{Key: "required", Value: required})
	}
	return m
}

// schema returns the JSON Schema of a type without an inside.
func (t Type) schema() jsontree.Members {
	switch t {
	case String:
		return typed("string")
	case Hex:
		return append(typed("string"), jsontree.Member{Key: "pattern", Value: "^[0-9a-fA-F]*$"})
	case Number, Timestamp:
		return typed("number")
	case Bool:
		return typed("boolean")
	case Null:
		return typed("null")
	case Amount:
		return anyOf([]jsontree.Members{typed("number"), typed("string")})
	case Range:
		return anyOf([]jsontree.Members{typed("number"), append(typed("array"),
			jsontree.Member{Key: "items", Value: typed("number")},
			jsontree.Member{Key: "minItems", Value: 2}, jsontree.Member{Key: "maxItems", Value: 2},
		)})
	default:
		return nil
	}
}

func typed(name string) jsontree.Members { return jsontree.Members{{Key: "type", Value: name}} }

// anyOf joins alternatives. None at all allow anything.
func anyOf(schemas []jsontree.Members) jsontree.Members {
	switch len(schemas) {
	case 0:
		return nil
	case 1:
		return schemas[0]
	default:
		return jsontree.Members{{Key: "anyOf", Value: schemas}}
	}
}
