package controlrpc

import (
	"context"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A LogFilter says which categories have their details logged.
type LogFilter interface {
	// Categories returns all that there are, sorted.
	Categories() []string

	// Logs reports whether the details of a category are logged.
	Logs(category string) bool

	// Switch has categories logged, and then others not, in one step. It returns the
	// first that is unknown, and changes nothing then.
	Switch(include, exclude []string) (unknown string, ok bool)
}

func logging(n Node) command.Command {
	var categories []string
	if n.Log != nil {
		categories = slices.DeleteFunc(n.Log.Categories(), n.isUnlisted)
	}
	return command.Command{
		Name:     "logging",
		Category: command.Control,
		About:    command.Program,
		Summary: "Returns which categories have their details logged. With arguments, it changes that before:\n" +
			"first what is to be logged, then what is not, so that a category in both is not.\n" +
			"The valid logging categories are: " + strings.Join(categories, ", ") + "\n" +
			`"all" and "1" stand for all of them.`,
		Params: []command.Param{
			{
				Name: "include", Type: command.Array, Optional: true, Help: "categories to log from now on",
				Inner: []command.Param{{
					Name: "include_category", Type: command.String, Optional: true, Help: "a category",
				}},
			},
			{
				Name: "exclude", Type: command.Array, Optional: true, Help: "categories not to log any more",
				Inner: []command.Param{{
					Name: "exclude_category", Type: command.String, Optional: true, Help: "a category",
				}},
			},
		},
		Results: []command.Result{{Type: command.UserKeys, Inner: []command.Result{
			{Type: command.Bool, Key: "category", Help: "whether the details of the category are logged"},
		}}},
		Examples: []string{`[["all"], ["http"]]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if n.Log == nil {
				return nil, command.Error{Code: command.MiscError, Message: "This program keeps its own log"}
			}
			include, err := texts(a, 0)
			if err != nil {
				return nil, err
			}
			exclude, err := texts(a, 1)
			if err != nil {
				return nil, err
			}
			if unknown, ok := n.Log.Switch(n.withoutGone(include), n.withoutGone(exclude)); !ok {
				return nil, command.Errorf(command.InvalidParameter, "unknown logging category %s", unknown)
			}
			var state jsontree.Members
			for _, category := range categories {
				state = append(state, jsontree.Member{Key: category, Value: n.Log.Logs(category)})
			}
			return state, nil
		},
	}
}

// isUnlisted reports whether a category is not listed.
func (n *Node) isUnlisted(category string) bool {
	return slices.Contains(n.Unlisted, category) || category == n.GoneCategory
}

// withoutGone leaves out the category that is gone, with a warning in the log.
func (n *Node) withoutGone(list []string) []string {
	if n.GoneCategory == "" || !slices.Contains(list, n.GoneCategory) {
		return list
	}
	if n.Warn != nil {
		n.Warn(dialect.GoneCategory(n.GoneCategory))
	}
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == n.GoneCategory })
}

// texts returns the texts of an argument that is an array, none where it was left out.
func texts(a *command.Args, i int) ([]string, error) {
	if !a.Has(i) {
		return nil, nil
	}
	array, err := a.Array(i)
	if err != nil {
		return nil, err
	}
	var list []string
	for n := range array.Len() {
		text, err := array.At(n).AsString()
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
