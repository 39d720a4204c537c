// Package arch holds the tests that keep the rooms of this module apart.
package arch
