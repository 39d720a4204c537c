// Package browser holds the tests of the page in a real browser: a daemon of this module, and
// Chromium driven by chromedp.
package browser
