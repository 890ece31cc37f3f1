import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeInvisible, Html, html, joined, raw } from '#lib/html'

test('text is escaped in text and in quoted attributes', () => {
  const hostile = `<img src=x onerror="alert('1')">&\``
  const escaped = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;&#96;'
  assert.equal(html`<p title="${hostile}">${hostile}</p>`.text, `<p title="${escaped}">${escaped}</p>`)
})

test('pieces, lists, numbers and nothing are written as they are meant', () => {
  const items = ['a', 'b<'].map((item) => html`<li>${item}</li>`)
  const none = items.length > 5 && html`<hr>`
  assert.equal(html`<ul>${items}</ul>${3}${4n}${none}${null}${undefined}`.text, '<ul><li>a</li><li>b&lt;</li></ul>34')
  assert.equal(joined(items).text, '<li>a</li><li>b&lt;</li>')
  assert.equal(String(html`${raw`<b>&amp;</b>`}`), '<b>&amp;</b>')
})

test('a value cannot be in a tag outside quotes, nor markup inside them', () => {
  assert.throws(() => html`<input ${'checked'}>`, TypeError)
  assert.throws(() => html`<input value=${'x'}>`, TypeError)
  assert.throws(() => html`<input value="${html`<b>`}">`, TypeError)
  assert.equal(html`<input${raw` checked`} value='${`a'b`}'>`.text, `<input checked value='a&#39;b'>`)
})

test('a quote in text opens no attribute, and an angle in an attribute no tag', () => {
  assert.equal(html`<p>it's ${'<i>'}</p>`.text, `<p>it's &lt;i&gt;</p>`)
  assert.equal(html`<p title=">" class="${'a"b'}">${'x'}</p>`.text, '<p title=">" class="a&quot;b">x</p>')
})

test('what a form sends back is what was there', () => {
  const tag = '\u{1f3f4}\u{e0067}\u{e007f} a\u00adb"'
  assert.equal(
    html`<input value="${tag}" title="${tag}">`.text,
    '<input value="\u{1f3f4}\u{e0067}\u{e007f} a\u00adb&quot;" title="\u{1f3f4}U+E0067U+E007F aU+00ADb&quot;">',
  )
  assert.equal(
    html`<textarea name="${tag}">\n${tag}</textarea>${tag}`.text,
    '<textarea name="\u{1f3f4}U+E0067U+E007F aU+00ADb&quot;">\n\u{1f3f4}\u{e0067}\u{e007f} a\u00adb&quot;</textarea>\u{1f3f4}U+E0067U+E007F aU+00ADb&quot;',
  )
})

test('what hides or reorders text is shown by its number; pairs, tabs and line feeds stay', () => {
  assert.equal(escapeInvisible('a\u202eb\u0007c\ud800d\udc00e\u200bf'), 'aU+202EbU+0007cU+D800dU+DC00eU+200Bf')
  assert.equal(escapeInvisible('tab\tline\nface \u{1f600} é'), 'tab\tline\nface \u{1f600} é')
  // written in tags, which no font draws, an order to a model is unseen in what a person approves
  assert.equal(escapeInvisible('a\u{e0062}\u{e0063}d'), 'aU+E0062U+E0063d')
  assert.equal(escapeInvisible('a\u00adb\u034fc\u3164d\u{e0100}e'), 'aU+00ADbU+034FcU+3164dU+E0100e')
  assert.equal(escapeInvisible('\u2764\ufe0f \u{1f469}\u200d\u{1f4bb}'), '\u2764\ufe0f \u{1f469}\u200d\u{1f4bb}')
  assert.equal(html`${'\u2066x'}`.text, 'U+2066x')
  assert.ok(html`x` instanceof Html)
})
