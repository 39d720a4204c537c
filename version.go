package trawl

// Version is the version of this module.
const Version = "0.1.0"
