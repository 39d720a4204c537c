// Package miniscript reads, checks, prints and compiles miniscript expressions
// as Bitcoin Core does.
//
// A miniscript is a tree of fragments, each of which stands for a piece of
// script. Every expression has a type that is computed from the types of its
// parts. The type says how the script changes the stack, and how a third party
// can change a witness. An expression without type cannot be compiled. A valid
// expression can still be refused: because it can be spent without signature,
// because strangers can change its witness, because its witness can exceed a
// limit.
//
// Keys are abstract: expressions know them by number, in the order in which
// they were read, and leave it to the caller to read, compare and print them.
//
// Texts may come from anyone. No function recurses, so that only the size of a
// tree's script limits its depth. Already while a tree is read, the size of its
// script bounds the size of the tree.
//
// Source: bitcoin.sipa.be/miniscript, BIP379.
package miniscript

import (
	"errors"
	"slices"
)

// ErrSyntax reports a text that is no miniscript at all.
var ErrSyntax = errors.New("not a miniscript")

// Context is the kind of script that an expression is compiled to. They differ
// in the form of keys, in limits, and in how a multisig is written.
type Context int

// The contexts of miniscript.
const (
	P2WSH     Context = iota // witness script of version 0, keys of 33 bytes
	Tapscript                // leaf of a taproot tree, keys of 32 bytes
)

// Expression is a parsed expression. It is immutable and safe for concurrent
// use.
type Expression struct {
	ctx   Context
	root  *node
	nodes []*node // every node of the tree, children before parents
	keys  int
}

// AppendText prints the expression in its canonical form: the shortest names,
// lower-case hashes, decimal numbers without leading zeros. printKey appends a
// key by its number.
func (e *Expression) AppendText(dst []byte, printKey func(dst []byte, key int) []byte) []byte {
	return e.root.appendText(dst, printKey)
}

// maxScriptSize is the size in bytes of the largest script of the context.
func (c Context) maxScriptSize() int {
	if c == P2WSH {
		return maxStandardWitnessScript
	}
	return maxTapscript
}

// keySize is the length in bytes of the keys in scripts of the context.
func (c Context) keySize() int {
	if c == P2WSH {
		return 33
	}
	return 32
}

// RelativeLocks returns the numbers of all older(), the last of the text first.
func (e *Expression) RelativeLocks() []uint32 {
	var locks []uint32
	for _, n := range slices.Backward(e.nodes) {
		if n.fragment == older {
			locks = append(locks, n.number)
		}
	}
	return locks
}
