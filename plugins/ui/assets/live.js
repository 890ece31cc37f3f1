import { anchorIn, hold } from './hold.js'
import { Idiomorph } from './idiomorph.js'

const GATHER_MS = 250
const AT_MOST_EVERY_MS = 1000
const GIVE_UP_MS = 30_000
const AGAIN_MS = 3000

const mark = (text) => {
  const element = document.getElementById('live')
  element.hidden = false
  element.textContent = `● ${text}`
}

/** Whether it can be seen here: a page says by `data-live` which run it shows, `*` for all, by `data-begins` that it shows requests under way. */
const concerns = ({ type, data }) => {
  if (type === 'call.begun') return document.querySelector('[data-begins]')
  const scope = document.querySelector('[data-live]')?.dataset.live
  return scope === '*' || data.includes(scope) || document.getElementById('news')
}

/** A page as the server has it now; undefined where it has none. */
const pageAt = async (url) => {
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => undefined)
  return answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined
}

/** Says how many rows a list has before the one that was its first. */
const countNews = async (note) => {
  const { seen, what } = note.dataset
  const link = note.querySelector('a')
  const page = await pageAt(link.href)
  const rows = [...(page?.querySelectorAll(`[data-row][id^="${seen.split('-')[0]}-"]`) ?? [])]
  const at = rows.findIndex(({ id }) => id === seen)
  if (!rows.length || !at) return
  link.textContent = `${at === -1 ? `${rows.length} or more` : at} new ${what}${at === 1 ? '' : 's'}`
  note.hidden = false
}

const morph = (from, to, isHeld) =>
  Idiomorph.morph(from, to, {
    morphStyle: 'outerHTML',
    // where the part as a whole has the focus, as behind the link that skips to it, that would keep all of it
    ignoreActiveValue: !from.matches(':focus'),
    callbacks: {
      beforeAttributeUpdated: (name, element) => !(isHeld && name === 'style') && beforeAttributeUpdated(name, element),
      beforeNodeMorphed: ({ id }) => id !== 'news',
    },
  })

/** Brings the main part up to date, nothing above `anchor` moving; gives the rows that wait for that to go. */
const morphBelow = (from, to, anchor) => {
  const place = () => anchor.getBoundingClientRect()
  const { waiting, back } = hold(from, to, anchor)
  // a page that became shorter than it is scrolled would move, too
  from.style.minHeight = `${from.offsetHeight}px`
  const { top, left } = place()
  morph(from, to, true)
  if (place().top !== top || place().left !== left) {
    back()
    morph(from, to, true)
    scrollBy({ top: place().top - top, behavior: 'instant' })
  }
  return waiting
}

const things = { audit: 'decision', call: 'request', waiting: 'paused session' }

/** Says what waits until the pointer and the focus have gone on, or until it is asked for. */
const tellWaiting = (rows) => {
  const [kind, ...more] = new Set(rows.map(({ id }) => id.split('-')[0]))
  const what = more.length > 0 ? 'row' : (things[kind] ?? kind)
  const text = rows.length > 0 ? `${rows.length} new ${what}${rows.length === 1 ? '' : 's'}` : ''
  document.getElementById('waits').textContent = text
}

/** Brings the page up to date; focus, selection, open parts and what is typed stay, and what stands above the pointer or the focus unless `all` is asked for. */
const refresh = async (renewed, all) => {
  const next = await pageAt(location.href)
  if (!next) return
  renewed(next)
  const chosen = document.querySelector('[data-row].at')?.id
  const [bar, main] = ['.bar nav', 'main'].map((part) => [document.querySelector(part), next.querySelector(part)])
  morph(...bar, false)
  const anchor = all ? undefined : anchorIn(main[0])
  tellWaiting(anchor ? morphBelow(...main, anchor) : [])
  if (!anchor) morph(...main, false)
  if (chosen) document.getElementById(chosen)?.classList.add('at')
}

/** What stands in a field before anybody types. */
const initial = { checked: 'defaultChecked', selected: 'defaultSelected', value: 'defaultValue' }

/** What the reader has done to an element outlives the server's idea of it, and so does that it cannot be pressed yet. */
const beforeAttributeUpdated = (name, element) =>
  !(
    name === 'open' ||
    name === 'aria-disabled' ||
    (initial[name] in element && element[name] !== element[initial[name]]) ||
    (name === 'class' && element.matches('.at'))
  )

/** Listens while the page is seen and brings it up to date when what it shows has changed. */
export const live = (renewed) => {
  let source
  let waiting = false
  let last = 0
  let lost
  let flight = Promise.resolve()
  const renew = async (all) => {
    waiting = false
    last = Date.now()
    if (document.querySelector('[data-live]')) await refresh(renewed, all)
    const note = document.getElementById('news')
    if (note) await countNews(note)
  }
  // one at a time: an older one could end last
  const update = (all) => {
    waiting = true
    const next = () => renew(all === true)
    flight = flight.then(next, next)
  }
  const changed = (event) => {
    if (waiting || !concerns(event)) return
    waiting = true
    setTimeout(update, Math.max(GATHER_MS, last + AT_MOST_EVERY_MS - Date.now()))
  }
  const open = () => {
    if (source || document.hidden || !document.querySelector('[data-live], #news')) return
    source = new EventSource('/api/v1/stream')
    source.onopen = () => {
      // what happened while nobody listened is not told afterwards
      if (lost) update()
      clearTimeout(lost)
      lost = undefined
      mark('live')
    }
    source.onerror = () => {
      lost ??= setTimeout(() => mark('reload'), GIVE_UP_MS)
      // a refusal, as by a gateway that is about to end, the browser takes for final
      if (source.readyState === EventSource.CLOSED) setTimeout(again, AGAIN_MS)
    }
    for (const name of ['run.updated', 'call.begun']) source.addEventListener(name, changed)
  }
  const again = () => {
    close()
    open()
  }
  const close = () => {
    source?.close()
    source = undefined
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return close()
    open()
    update()
  })
  addEventListener('pagehide', close)
  addEventListener('pageshow', open)
  const waits = document.getElementById('waits')
  waits.addEventListener('click', () => {
    document.getElementById('main').focus({ preventScroll: true })
    update(true)
  })
  // not every step of what is under way is an event of the stream, nor is that the pointer has gone
  setInterval(() => {
    if (document.hidden || waiting) return
    const isFree =
      document.querySelector('#waits:not(:empty), .gone, main[style]') && !anchorIn(document.getElementById('main'))
    if (isFree || document.querySelector('[data-unfinished]')) update()
  }, AT_MOST_EVERY_MS)
  open()
}
