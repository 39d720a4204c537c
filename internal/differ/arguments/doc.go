// Package arguments compares what calls with arguments by chance are refused with.
package arguments
