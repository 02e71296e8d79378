package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is the PNG dot count per pixel on each axis, for high-resolution screens.
const scale = 2

// PNG writes charts below each other as a PNG image.
func PNG(w io.Writer, charts []Chart) error {
	c := pngCanvas{image: image.NewRGBA(image.Rect(0, 0, scale*width, scale*height*len(charts)))}
	draw.Draw(c.image, c.image.Bounds(), image.White, image.Point{}, draw.Src)
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return fmt.Errorf("parse font: %w", err)
	}
	c.faces = map[int]font.Face{}
	for _, size := range []int{titleSize, textSize} {
		// At 72 dots per inch, a point is a dot.
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: scale * float64(size), DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return fmt.Errorf("open font: %w", err)
		}
		c.faces[size] = face
	}
	drawAll(&c, charts)
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(w, c.image); err != nil {
		return fmt.Errorf("write PNG: %w", err)
	}
	return nil
}

// pngCanvas draws to an image.
type pngCanvas struct {
	image *image.RGBA
	faces map[int]font.Face
}

// paint returns the colour for an SVG value "#rrggbb".
func paint(name string) image.Image {
	var c color.RGBA
	if _, err := fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return image.Black
	}
	c.A = 0xff
	return image.NewUniform(c)
}

// fill fills closed shapes with the same orientation.
func (c *pngCanvas) fill(shapes [][]Point, colour string) {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range shapes {
		for _, p := range s {
			x0, y0, x1, y1 = min(x0, p.X), min(y0, p.Y), max(x1, p.X), max(y1, p.Y)
		}
	}
	box := image.Rect(int(x0), int(y0), int(x1)+1, int(y1)+1)
	if x0 > x1 || !box.In(c.image.Bounds()) {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, s := range shapes {
		for i, p := range s {
			x, y := float32(p.X-float64(box.Min.X)), float32(p.Y-float64(box.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(c.image, box, paint(colour), image.Point{})
}

// round returns a polygon that approximates a circle.
func round(at Point, radius float64) []Point {
	const corners = 16
	var all []Point
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		all = append(all, Point{at.X + radius*cos, at.Y + radius*sin})
	}
	return all
}

// line draws each segment as a rectangle, with round joints.
func (c *pngCanvas) line(points []Point, width float64, colour string) {
	half := scale * width / 2
	var shapes [][]Point
	for i := 1; i < len(points); i++ {
		a, b := scaled(points[i-1]), scaled(points[i])
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		x, y := half*(b.Y-a.Y)/length, -half*(b.X-a.X)/length
		shapes = append(shapes, []Point{{a.X + x, a.Y + y}, {b.X + x, b.Y + y}, {b.X - x, b.Y - y}, {a.X - x, a.Y - y}})
		if i > 1 {
			shapes = append(shapes, round(a, half))
		}
	}
	c.fill(shapes, colour)
}

func scaled(p Point) Point { return Point{scale * p.X, scale * p.Y} }

func (c *pngCanvas) dot(at Point, radius float64, colour, _ string) {
	c.fill([][]Point{round(scaled(at), scale*radius)}, colour)
}

func (c *pngCanvas) text(at Point, size int, a align, upright bool, text string) {
	d := font.Drawer{Dst: c.image, Src: image.Black, Face: c.faces[size]}
	wide := d.MeasureString(text).Ceil()
	at = scaled(at)
	if upright {
		c.upright(d, at, wide, text)
		return
	}
	x := at.X
	switch a {
	case atMiddle:
		x -= float64(wide) / 2
	case atEnd:
		x -= float64(wide)
	}
	d.Dot = fixed.P(int(x), int(at.Y))
	d.DrawString(text)
}

// upright draws a text upwards, centred on a point.
func (c *pngCanvas) upright(d font.Drawer, at Point, wide int, text string) {
	m := d.Face.Metrics()
	up, down := m.Ascent.Ceil(), m.Descent.Ceil()
	flat := image.NewAlpha(image.Rect(0, 0, wide, up+down))
	d.Dst, d.Src, d.Dot = flat, image.Opaque, fixed.P(0, up)
	d.DrawString(text)
	x0, y0 := int(at.X)-up, int(at.Y)+wide/2
	for y := range up + down {
		for x := range wide {
			if a := flat.AlphaAt(x, y).A; a > 0 {
				c.image.SetRGBA(x0+y, y0-x, color.RGBA{0xff - a, 0xff - a, 0xff - a, 0xff})
			}
		}
	}
}
