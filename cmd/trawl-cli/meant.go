package main

import (
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/options/table"
)

// methodNotFound is the code of a call of a method that there is not.
const methodNotFound = -32601

// meantMethod returns the method that a wrong name is most like, empty if it is like none.
func meantMethod(name string) string {
	return nearest(name, func(yield func(string) bool) {
		for line := range strings.Lines(methodList + watchCommand) {
			if words := strings.Fields(line); len(words) > 0 && !yield(words[0]) {
				return
			}
		}
	})
}

// nearest returns the word that differs least from a wrong one, empty if all differ too much: by more than a
// third of the letters.
func nearest(wrong string, words func(yield func(string) bool)) (best string) {
	least := len(wrong)/3 + 1
	for word := range words {
		if d := distance(wrong, word); d < least {
			best, least = word, d
		}
	}
	return best
}

// distance returns how many letters have to be put in, left out, replaced, or exchanged with the next one to get from
// one word to another.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := range len(b) {
			if rows[i][j+1] = j + 1; i == 0 {
				continue
			}
			replaced := rows[i-1][j]
			if a[i-1] != b[j] {
				replaced++
			}
			rows[i][j+1] = min(rows[i-1][j+1]+1, rows[i][j]+1, replaced)
			if i > 1 && j > 0 && a[i-1] == b[j-1] && a[i-2] == b[j] {
				rows[i][j+1] = min(rows[i][j+1], rows[i-2][j-1]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// meantOption returns a line with the option that an unknown one is most like, empty if there is none.
func meantOption(args []string) string {
	words := optionWords(table.CLI())
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			break // the rest is of the method
		}
		name, _, _ := strings.Cut("-"+strings.TrimLeft(arg, "-"), "=")
		is := func(word string) bool { return strings.TrimSuffix(word, "=") == name }
		if slices.ContainsFunc(words, is) {
			continue
		}
		if meant := nearest(name, slices.Values(words)); meant != "" {
			return "\nDid you mean " + meant + "?"
		}
	}
	return ""
}
