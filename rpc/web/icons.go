package web

import "html/template"

// iconPaths are the shapes of icons, in a square of 24, drawn by lines.
var iconPaths = map[string]string{
	"arrow":   "M4 12h15M13 6l6 6-6 6",
	"blocks":  "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
	"check":   "M5 12.500l4.5 4.500L19 7.5",
	"clock":   "M12 3.500a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 7.500V12l3 2",
	"cluster": "M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01M12 7h4M12 17h4",
	"copy":    "M9 9h11v11H9zM15 9V4H4v11h5",
	"disk": "M4 7c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 7v10c0 1.7 3.6 3 8 3s8-1.3 8-3V7M4 12c0 " +
		"1.7 3.6 3 8 3s8-1.3 8-3",
	"down": "M12 4v11M7 11l5 5 5-5M5 20h14",
	"eye": "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.500a2.5 2.5 0 100 5 " +
		"2.5 2.5 0 000-5z",
	"index": "M5 5h14M5 10h14M5 15h9M5 20h6",
	"info":  "M12 3.500a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 11v5M12 8h.01",
	"key":   "M8 11a4 4 0 100 8 4 4 0 000-8zM11 12.200L20 4M16.5 7l2.5 2.5",
	"left":  "M14.5 5l-7 7 7 7",
	"lens":  "M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4.5 4.5",
	"link":  "M9 15l6-6M8 11l-2.5 2.500a3.5 3.5 0 005 5L13 16M16 13l2.5-2.500a3.5 3.5 0 00-5-5L11 8",
	"lock":  "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 017 0v3",
	"lost": "M3 3l18 18M5 12.500a10 10 0 014-2.400M2 9a15 15 0 014.5-2.900M19 12.500a10 10 0 " +
		"00-2.3-1.700M22 9A15 15 0 0010 5.200M8.5 16a5 5 0 017 0M12 20h.01",
	"mempool": "M3 8c3 0 3-2.5 6-2.5S12 8 15 8s3-2.5 6-2.5M3 13.5c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5M3 " +
		"19c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5",
	"more":     "M5 12h.01M12 12h.01M19 12h.01",
	"out":      "M14 4H5v16h9M10 12h10.500M17 8.500l3.5 3.5-3.5 3.5",
	"overview": "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
	"pause":    "M8.5 5v14M15.5 5v14",
	"peers": "M12 9.500a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM5 3.500a1.8 1.8 0 100 3.6 1.8 1.8 0 000-3.600zM19 " +
		"3.500a1.8 1.8 0 100 3.6 1.8 1.8 0 000-3.600zM12 17.400a1.8 1.8 0 100 3.6 1.8 1.8 0 " +
		"000-3.600zM6.4 6.500l3.7 3.700M17.6 6.500l-3.7 3.700M12 14.500v2.9",
	"play":  "M7 4.500v15l12-7.500z",
	"plus":  "M12 5v14M5 12h14",
	"right": "M9.5 5l7 7-7 7",
	"searches": "M4 5h16M5.5 5c.5 8 3 13 6.5 15 3.5-2 6-7 6.5-15M8.5 5c.2 5 1.5 10.5 3.5 15M15.5 5c-.2 5-1.5 " +
		"10.5-3.5 15M6.3 11h11.4",
	"upload": "M12 16V5M7 9l5-5 5 5M5 20h14",
	"wallet": "M4 7.500A2.5 2.5 0 016.5 5H18v3M4 7.500V17a2.5 2.5 0 002.5 2.500H20V8H6.500M16 13.800h.01",
	"warn":   "M12 4l9 16H3zM12 10v4.500M12 17.300h.01",
}

// icon returns an icon, which words beside it explain. The name is one of the templates', not of a user.
func icon(name string) template.HTML {
	const begin, end = `<svg class="i" viewBox="0 0 24 24" aria-hidden="true"><path d="`, `"/></svg>`
	return template.HTML(begin + iconPaths[name] + end)
}
