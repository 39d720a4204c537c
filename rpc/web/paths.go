package web

import (
	"fmt"
	"net/url"
	"strings"
)

// A place of the page is a name and, for pages about one of many things, what it is about: "search/ID".

// about is the key under which models find in their query what the page is about.
const about = "about"

// splitName takes the name of a page apart. It is false for a name of no form.
func splitName(name string) (page, of string, ok bool) {
	page, rest, found := strings.Cut(name, "/")
	if !found {
		return page, "", true
	}
	of, err := url.PathUnescape(rest)
	return page + "/", of, err == nil && !strings.Contains(rest, "/")
}

// depth is how many folders below the base a page is.
func depth(name string) int {
	if name == "" || name == "index" {
		return 0
	}
	return 1 + strings.Count(name, "/")
}

// up leads so many folders up.
func up(folders int) string { return "./" + strings.Repeat("../", folders) }

// dots are names that a path cannot have as a part: browsers take them for folders.
func dots(name string) bool { return name == "." || name == ".." }

// searchPath, walletPath, blockPath and txPath return the addresses of pages below the base.
func searchPath(id string) string { return pathOf("search", "id", id) }

func walletPath(name string) string { return pathOf("wallet", "name", name) }

func blockPath(hashOrHeight any) string {
	return "ui/block/" + url.PathEscape(fmt.Sprint(value(hashOrHeight)))
}

func txPath(id string) string { return "ui/tx/" + url.PathEscape(id) }

func pathOf(page, key, of string) string {
	if dots(of) {
		return "ui/" + page + "?" + url.Values{key: {of}}.Encode()
	}
	return "ui/" + page + "/" + url.PathEscape(of)
}

// only returns an address, or none without the right to go there.
func only(may bool, to string) string {
	if may {
		return to
	}
	return ""
}

// older are the keys by which earlier versions named what a page is about in the query.
var older = map[string]string{"search": "id", "wallet": "name"}
