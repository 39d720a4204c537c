// Package validate holds the files for Kubernetes and compose against the schemas of these, in
// a module of its own, so that what it needs is no dependency of ours.
package validate
