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

/** Brings the page up to date; focus, selection, open parts and what is typed stay. */
const refresh = async (renewed) => {
  const next = await pageAt(location.href)
  if (!next) return
  renewed(next)
  const chosen = document.querySelector('[data-row].at')?.id
  for (const selector of ['.bar nav', 'main']) {
    const [from, to] = [document.querySelector(selector), next.querySelector(selector)]
    if (!from || !to) continue
    Idiomorph.morph(from, to, {
      morphStyle: 'outerHTML',
      ignoreActiveValue: true,
      callbacks: { beforeAttributeUpdated, beforeNodeMorphed: ({ id }) => id !== 'news' },
    })
  }
  if (chosen) document.getElementById(chosen)?.classList.add('at')
}

/** What stands in a field before anybody types. */
const initial = { checked: 'defaultChecked', selected: 'defaultSelected', value: 'defaultValue' }

/** What the reader has done to an element outlives the server's idea of it. */
const beforeAttributeUpdated = (name, element) =>
  !(
    name === 'open' ||
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
  const renew = async () => {
    waiting = false
    last = Date.now()
    if (document.querySelector('[data-live]')) await refresh(renewed)
    const note = document.getElementById('news')
    if (note) await countNews(note)
  }
  // one at a time: an older one could end last
  const update = () => {
    waiting = true
    flight = flight.then(renew, renew)
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
  // not every step of what is under way is an event of the stream
  setInterval(() => {
    if (!document.hidden && !waiting && document.querySelector('[data-unfinished]')) update()
  }, AT_MOST_EVERY_MS)
  open()
}
