/** Makes invisible characters visible, as the server does. */
const visible = (text) =>
  text.replace(
    /[[\p{DI}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/gv,
    (mark) => `U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

const short = (value) => (value < 9.95 ? value.toFixed(1) : Math.min(999, Math.round(value)))

/** Duration, as the server formats it. */
const took = (ns) => {
  if (ns === null) return '…'
  const value = Number(ns)
  if (value < 1e3) return `${value} ns`
  if (value < 1e6) return `${short(value / 1e3)} µs`
  if (value < 1e9) return `${short(value / 1e6)} ms`
  if (value < 59.95e9) return `${(value / 1e9).toFixed(1)} s`
  const seconds = Math.round(value / 1e9)
  const [count, whole, part] = seconds < 3600 ? [seconds, 'min', 's'] : [Math.round(seconds / 60), 'h', 'min']
  return `${Math.floor(count / 60)} ${whole} ${String(count % 60).padStart(2, '0')} ${part}`
}

const tenths = (value) => value.toFixed(Math.abs(value) < 99.95 ? 1 : 0)

/** A count, as the server formats it. */
const counted = (count) => {
  const value = Number(count)
  if (value < 1e3) return value || ''
  if (value < 999_500) return `${tenths(value / 1e3)}k`
  return value < 999_500_000 ? `${tenths(value / 1e6)}M` : `${tenths(value / 1e9)}G`
}

/** A cost in millionths, as the server formats it. */
const priced = (micro) => {
  const value = Number(micro) / 1e6
  return value >= 1e3 ? value.toFixed(0) : Number(value.toPrecision(4)) || ''
}

/** Shortens a text in the middle, as the server does. */
const middled = (text, max = 40) => {
  if (text.length <= max) return visible(text)
  const tail = Math.floor(max / 3)
  return visible(`${text.slice(0, max - tail - 1).toWellFormed()}…${text.slice(-tail).toWellFormed()}`)
}

/** Creates an element with attributes and content. */
export const made = (name, attributes, ...content) => {
  const space = /^(svg|rect|text)$/.test(name) ? '2000/svg' : '1999/xhtml'
  const element = document.createElementNS(`http://www.w3.org/${space}`, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...content)
  return element
}

/** Class and symbol of each status. */
const signs = new Map([
  ['error', 'error ✕'],
  ['timeout', 'error ✕'],
  ['blocked', 'warning ■'],
  ['running', 'running ●'],
  ['cancelled', 'quiet ○'],
])

/** A tool call without a seen result. */
const UNSEEN = 'unset'

const wordsOf = (status) => (status === UNSEEN ? 'no result seen' : status)

const statusMark = (status) => {
  if (status === 'ok') return ''
  const [kind, sign] = (signs.get(status) ?? 'quiet ·').split(' ')
  return made('span', { class: `status ${kind}` }, `${sign} ${wordsOf(status)}`)
}

const hasFailed = (status) => /^(error|timeout)$/.test(status)

/** Why a span failed. */
const errorMark = (status, error) =>
  error === null || !hasFailed(status) ? [] : [' ', made('span', { class: 'quiet' }, middled(error))]

/** A duration, for its column and its bar's label. */
const lengthOf = (duration, known, most) => {
  if (duration === null) return ['…', 'is running']
  if (!known) return ['–', 'duration not known']
  const text = took(duration)
  return most ? [`≤ ${text}`, `lasts at most ${text}`] : [text, `lasts ${text}`]
}

/** Who else told of a call. */
const seenMark = (owners) => {
  const title = `one call, also seen by ${[...new Set(owners)].join(' and ')}`
  return owners ? [' ', made('abbr', { class: 'quiet', title }, `+${owners.length}`)] : []
}

const percent = (share) => `${share.toFixed(2)}%`

/** Label of a decision, after its bar or before it. */
const decisionMark = (word, from, to) => {
  const kind = /^(block|deny)$/.test(word) ? 'error' : 'warning'
  const before = from < 36 ? 'start' : 'end'
  const [x, dx, anchor] = to <= 85 ? [to + 0.6, 4, 'start'] : [Math.max(0, from - 0.6), -2, before]
  return made('text', { class: kind, x: percent(x), dx, y: 11, 'text-anchor': anchor }, `◆ ${visible(word)}`)
}

/** Positions in an attribute; undefined if absent. */
const placesIn = (text) => (text === undefined ? undefined : new Set(JSON.parse(`[${text}]`)))

/** Renders rows from lists of values, as the server does. `folds` has the closed rows, `groups` those that stand for equal siblings. */
export const rowMaker = (table, url, rows, folds, groups) => {
  const { origin, from, to, critical, matches } = table.dataset
  const [zero, first, width] = [BigInt(origin), Number(from), Number(to) - Number(from)]
  const [onPath, found] = [placesIn(critical), placesIn(matches)]
  const share = (ns) => (100 * (Number(ns - zero) - first)) / width

  const address = (changes) => {
    const query = new URLSearchParams(url.search)
    for (const [name, value] of Object.entries(changes)) query.set(name, value)
    return `?${query}`
  }

  const lane = (start, duration, status, decision, lasts) => {
    const [left, right] = [share(start), duration === null ? 100 : share(start + BigInt(duration))]
    const label = `starts at ${took(start - zero)}, ${lasts}, ${wordsOf(status)}`
    const svg = made('svg', { class: 'lane', height: 14, role: 'img', 'aria-label': label })
    const [x, end] = [Math.max(0, left), Math.min(100, right)]
    if (x > end) return svg
    svg.append(made('rect', { x: percent(x), width: percent(Math.max(0.01, end - x)), height: 14 }))
    if (decision !== null) svg.append(decisionMark(decision, x, end))
    return svg
  }

  const fold = (place, id, depth) => {
    if (!(rows[place + 1]?.[1] > depth)) return ''
    const closed = folds.isClosed(id, depth)
    const href = address({ ...folds.turned(id), span: id })
    const label = closed ? 'Expand' : 'Collapse'
    return made('a', { class: 'fold', href, 'aria-expanded': !closed, 'aria-label': label }, closed ? '▸' : '▾')
  }

  const equal = (span, [count], folded) => {
    const href = address({ ...folds.grouped(span), span })
    const label = folded ? `Show all ${count} equal steps` : `Fold ${count} equal steps`
    const attributes = { class: 'equal', href, 'aria-expanded': !folded, 'aria-label': label, title: label }
    return made('a', attributes, `×${count}, equal`)
  }

  const classesOf = (place, id, kind, status) =>
    [
      kind,
      id === table.dataset.selected && 'chosen',
      onPath?.has(place) && 'critical',
      found?.has(place) === false && 'dim',
      hasFailed(status) && 'failed',
    ]
      .filter(Boolean)
      .join(' ')

  const pickOf = ([span, depth, name, occurrence, label, kind], id) => {
    const number = depth === 0 ? '' : `#${occurrence}`
    const [said, about] = label === null ? ['', []] : [` ${label}`, [' ', made('i', {}, middled(label))]]
    const title = visible(`${kind}: ${name}${number}${said}`)
    const content = [
      depth > 12 ? `${depth} ` : '',
      made('bdi', {}, middled(name, 40 - number.length)),
      number,
      ...about,
    ]
    const pick = made('a', { class: 'pick', href: address({ span }), title }, ...content)
    if (id === table.dataset.selected) pick.ariaCurrent = 'true'
    return pick
  }

  const figure = (...text) => made('td', { class: 'figure' }, ...text)

  return (place) => {
    const row = rows[place]
    const [span, depth, , , , kind, status, start, own, , decision, tokens, cost, known, group] = row
    const [error, seen, most] = row.slice(18)
    const folded = groups.has(place)
    const [, , , end, allTokens, allCost] = folded ? group : [0, 0, 0, 0, tokens, cost]
    const duration = folded ? BigInt(end) - BigInt(start) : status === UNSEEN ? (own ?? 0) : own
    const [length, lasts] = lengthOf(duration, known, most)
    const id = `span-${span}`
    const more = group ? equal(span, group, folded) : ''
    return made(
      'tr',
      { id, 'data-row': '', class: classesOf(place, id, kind, status) },
      made(
        'th',
        { scope: 'row', class: `d${Math.min(12, depth)}` },
        ...[pickOf(row, id), ...seenMark(seen), fold(place, span, depth), more],
      ),
      made('td', {}, lane(BigInt(start), duration, status, decision, lasts)),
      figure(length),
      figure(counted(allTokens)),
      figure(priced(allCost)),
      made('td', {}, statusMark(status), ...errorMark(status, error)),
    )
  }
}
