package main

import "fmt"

// open writes the function that does the work that messages with the same first words share.
func (v *vectors) open() {
	v.Function(fmt.Sprint("open", v.width)+"(o *opening, start *[8]uint32)", 0, 16,
		"open does the first five rounds of 16 messages, and sums what their schedules have of the first five words.")
	v.Load("o", 0, "BX", "start", 8, "DX")
	v.halves(func() {
		v.start()
		for t := range 5 {
			v.add(word(t), v.role(7, t))
			v.addNumber(t, v.role(7, t))
			v.round(t)
		}
		for j := range 8 {
			v.move(v.role(j, 5), line(fmt.Sprintf("state+%d", row*j)))
		}
		v.Note("Parts of the words 16 to 19.")
		for t := range 4 {
			v.move(word(t+1), v.free(0))
			v.Use("early", v.free(0), v.r(t))
			v.add(word(t), v.r(t))
			v.move(v.r(t), line(fmt.Sprint("part", 16+t)))
		}
		v.Note("The words 17 and 19 of a message of one node, and what other words have of them.")
		v.addNumber(numberLengthLate, v.r(1))
		v.Use("late", v.r(1), v.free(0))
		v.add(v.free(0), v.r(3))
		for _, t := range []int{17, 19} {
			w := v.r(t - 16)
			v.move(w, line(fmt.Sprint("w", t)))
			v.Use("early", w, v.free(0))
			v.move(v.free(0), line(fmt.Sprint("early", t)))
		}
		v.Use("late", v.r(3), v.free(0))
		v.move(v.free(0), line("late19"))
		for _, t := range []int{17, 19} {
			v.addNumber(t, v.r(t-16))
			v.move(v.r(t-16), line(fmt.Sprint("round", t)))
		}
	})
	v.end()
}

// word is the line of one of the first five words.
func word(t int) string { return line(fmt.Sprintf("word+%d", row*t)) }
