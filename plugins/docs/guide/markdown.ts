import { Marked, type Token, type Tokens } from 'marked'
import { Html, html, raw } from '#lib/html'
import { headingId } from './documents.ts'

/** A heading with the text below it, up to the next one. */
export interface Section {
  /** Unique in its page. */
  readonly id: string
  readonly title: string
  readonly depth: number
  readonly text: string
}

/** A Markdown text as the guide shows it. */
export interface Rendered {
  readonly title: string
  readonly main: Html
  readonly sections: readonly Section[]
}

/** The anchor that a heading has on the usual hosts of repositories. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Renders a text. `addressOf` gives the address of a link; undefined: it leads to nothing that is served, and its words alone are shown. HTML is shown as text. */
export const render = (text: string, addressOf: (href: string) => string | undefined): Rendered => {
  const known = new Map<Token, Section>()
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text: markup }) => (isPicture(markup) ? '' : html`${markup}`.text),
      image: ({ text: alternative }) => html`${alternative}`.text,
      code: ({ text: source }) => html`<pre><code>${source}</code></pre>\n`.text,
      codespan: ({ text: source }) => html`<code>${breakable(source)}</code>`.text,
      heading(token) {
        const inner = new Html(this.parser.parseInline(token.tokens))
        const id = known.get(token)?.id ?? ''
        if (token.depth === 1) return html`<h1 id="${id}">${inner}</h1>\n`.text
        return (token.depth === 2 ? html`<h2 id="${id}">${inner}</h2>\n` : html`<h3 id="${id}">${inner}</h3>\n`).text
      },
      link({ href, tokens }) {
        const inner = new Html(this.parser.parseInline(tokens))
        const address = addressOf(href)
        return address === undefined ? inner.text : html`<a href="${address}">${inner}</a>`.text
      },
      table(token) {
        const cells = (row: readonly Tokens.TableCell[]) =>
          row.map((cell) => new Html(this.parser.parseInline(cell.tokens)))
        const heads = cells(token.header)
        return html`<table class="stacks"><thead><tr>${heads.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead><tbody>${token.rows.map(
          (row) => html`<tr>${cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>`,
        )}</tbody></table>\n`.text
      },
    },
  })
  const tokens = marked.lexer(text)
  const anchors = anchorsFor()
  const sections: { id: string; title: string; depth: number; text: string }[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plain(token.text)
      const section = { id: headingId(anchors(title)), title, depth: token.depth, text: '' }
      known.set(token, section)
      sections.push(section)
    } else {
      const section = sections.at(-1)
      if (section !== undefined) section.text += `${plain(token.raw)}\n`
    }
  }
  return { title: sections[0]?.title ?? '', main: new Html(marked.parser(tokens)), sections }
}

/** Long code may be broken behind signs, and so in a narrow cell too. */
const breakable = (source: string): readonly Html[] | string =>
  source.length <= LONG
    ? source
    : source.split(/(?<=[/,:?&=_.{[-])/).map((part, index) => html`${index > 0 && raw`<wbr>`}${part}`)
const LONG = 20

/** The one kind of markup in documents: pictures for where the repository is read. */
const isPicture = (markup: string): boolean => /^\s*<picture>[\s\S]*<\/picture>\s*$/.test(markup)

/** Anchors of one text: equal ones are numbered. */
const anchorsFor = (): ((title: string) => string) => {
  const seen = new Map<string, number>()
  return (title) => {
    const anchor = anchorOf(title)
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  }
}

/** The words of Markdown, without its marks. */
const plain = (text: string): string =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^```.*$|^\|?[\s:|-]+\|$/gm, '')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(/[*`]|^#+ |^> /gm, '')
    .replaceAll(/ *\| */g, ' ')
    .trim()
