import { anchorIn, hold } from './hold.js'
import { Idiomorph } from './idiomorph.js'
import { isOptedIn, optIn, tellNotice, updateBadge } from './notify.js'

const GATHER_MS = 250
const AT_MOST_EVERY_MS = 1000
/** The same of a tab that nobody sees. */
const AT_MOST_EVERY_HIDDEN_MS = 5000
const GIVE_UP_MS = 30_000
const AGAIN_MS = 3000

const mark = (text) => {
  const element = document.getElementById('live')
  element.hidden = false
  element.textContent = `● ${text}`
}

/** Whether the page shows the subject of an event. `data-live` has the run id, `*` for all; `data-begins` marks pages with requests in flight. */
const concerns = ({ type, data }) => {
  if (type === 'call.begun') return document.querySelector('[data-begins]')
  const scope = document.querySelector('[data-live]')?.dataset.live
  return scope === '*' || data.includes(scope) || document.getElementById('news')
}

/** The current version of a page; undefined if the request fails. */
const pageAt = async (url) => {
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => undefined)
  return answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined
}

/** Shows the number of rows before the former first row. */
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
    // focus on the whole part, as after the skip link, would preserve all of it
    ignoreActiveValue: !from.matches(':focus'),
    callbacks: {
      beforeAttributeUpdated: (name, element) => !(isHeld && name === 'style') && beforeAttributeUpdated(name, element),
      // what script has written there stays
      beforeNodeMorphed: ({ id }) => id !== 'news' && id !== 'readout',
    },
  })

/** Updates the main part without moving anything above `anchor`. Returns the rows that wait. */
const morphBelow = (from, to, anchor) => {
  const place = () => anchor.getBoundingClientRect()
  const { waiting, back } = hold(from, to, anchor)
  // a shorter page would scroll
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

/** Shows the number of waiting updates. They apply when pointer and focus leave, or on request. */
const tellWaiting = (rows) => {
  const [kind, ...more] = new Set(rows.map(({ id }) => id.split('-')[0]))
  const what = more.length > 0 ? 'row' : (things[kind] ?? kind)
  const text = rows.length > 0 ? `${rows.length} new ${what}${rows.length === 1 ? '' : 's'}` : ''
  document.getElementById('waits').textContent = text
}

/** Updates the page. Focus, selection, open parts, typed values and all above stay, unless `all` is set. */
const refresh = async (renewed, all) => {
  const next = await pageAt(location.href)
  if (!next) return
  renewed(next)
  updateBadge(next)
  const chosen = document.querySelector('[data-row].at')?.id
  const [bar, main] = ['.bar nav', 'main'].map((part) => [document.querySelector(part), next.querySelector(part)])
  morph(...bar, false)
  const anchor = all ? undefined : anchorIn(main[0])
  tellWaiting(anchor ? morphBelow(...main, anchor) : [])
  if (!anchor) morph(...main, false)
  if (chosen) document.getElementById(chosen)?.classList.add('at')
}

/** Updates the navigation of a page whose content stays as it is. */
const refreshBar = async () => {
  const next = await pageAt(location.href)
  if (!next) return
  updateBadge(next)
  const [bar, nextBar] = [document, next].map((page) => page.querySelector('.bar nav'))
  if (nextBar) morph(bar, nextBar, false)
}

/** Attributes with the initial value of a field. */
const initial = { checked: 'defaultChecked', selected: 'defaultSelected', value: 'defaultValue' }

/** The user's changes to an element override the server's version, and so does its settle time. */
const beforeAttributeUpdated = (name, element) =>
  !(
    name === 'open' ||
    name === 'aria-disabled' ||
    (initial[name] in element && element[name] !== element[initial[name]]) ||
    (name === 'class' && element.matches('.at'))
  )

/** Listens while the page is visible, or notifications are on, and updates it after relevant events. */
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
    else if (isOptedIn()) await refreshBar()
    const note = document.getElementById('news')
    if (note) await countNews(note)
  }
  // runs one at a time, because an older update could finish last
  const update = (all) => {
    waiting = true
    const next = () => renew(all === true)
    flight = flight.then(next, next)
  }
  const changed = (event) => {
    if (waiting || !(isOptedIn() || concerns(event))) return
    waiting = true
    const every = document.hidden ? AT_MOST_EVERY_HIDDEN_MS : AT_MOST_EVERY_MS
    setTimeout(update, Math.max(GATHER_MS, last + every - Date.now()))
  }
  const noticed = (event) => {
    tellNotice(event)
    changed(event)
  }
  const open = () => {
    const isNeeded = isOptedIn() || (!document.hidden && document.querySelector('[data-live], #news'))
    if (source || !isNeeded) return
    source = new EventSource('/api/v1/stream')
    source.onopen = () => {
      // events are not replayed, so an update makes up for missed ones
      if (lost) update()
      clearTimeout(lost)
      lost = undefined
      mark('live')
    }
    source.onerror = () => {
      lost ??= setTimeout(() => mark('reload'), GIVE_UP_MS)
      // the browser does not reconnect after an error response, as from a gateway that stops
      if (source.readyState === EventSource.CLOSED) setTimeout(again, AGAIN_MS)
    }
    for (const name of ['run.updated', 'call.begun']) source.addEventListener(name, changed)
    source.addEventListener('notice', noticed)
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
    if (document.hidden) return isOptedIn() ? undefined : close()
    open()
    update()
  })
  optIn(() => {
    if (document.hidden && !isOptedIn()) close()
    else open()
  })
  addEventListener('pagehide', close)
  addEventListener('pageshow', open)
  const waits = document.getElementById('waits')
  waits.addEventListener('click', () => {
    document.getElementById('main').focus({ preventScroll: true })
    update(true)
  })
  // some steps of requests in flight, and the pointer's leave, have no stream event
  setInterval(() => {
    if (document.hidden || waiting) return
    const isFree =
      document.querySelector('#waits:not(:empty), .gone, main[style]') && !anchorIn(document.getElementById('main'))
    if (isFree || document.querySelector('[data-unfinished]')) update()
  }, AT_MOST_EVERY_MS)
  open()
}
