import { keys } from './keys.js'
import { live } from './live.js'
import { timeline } from './timeline.js'

/** Shows times in the reader's time zone; the exact text remains in the attribute. */
const localTimes = (part) => {
  const today = new Date().toDateString()
  for (const time of part.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    const isShort = 'clock' in time.dataset
    const clock = at.toLocaleTimeString(undefined, { hour12: false, timeStyle: isShort ? 'short' : 'medium' })
    time.textContent = isShort || at.toDateString() === today ? clock : `${at.toLocaleDateString()} ${clock}`
    time.title = time.dateTime
  }
}

/** Prepares a page, or its next version. */
const prepare = (part) => {
  localTimes(part)
  if (part.querySelector('.charts')) import('./charts.js').then(({ charts }) => charts())
}

/** Counts down to each `data-until`. Expired elements are marked and lose their buttons. */
const countDown = () => {
  for (const element of document.querySelectorAll('[data-until]')) {
    const left = Math.ceil((Date.parse(element.dataset.until) - Date.now()) / 1000)
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
    element.textContent = left > 0 ? text : 'expired'
    if (left <= 0)
      for (const button of element.closest('[data-expires]')?.querySelectorAll('button') ?? [])
        button.style.visibility = 'hidden'
  }
}

/** Copies the text of a button. */
const copy = async ({ dataset }) => {
  await navigator.clipboard.writeText(dataset.copy === 'url' ? location.href : dataset.copy)
  document.getElementById('told').textContent = 'Copied.'
}

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('button[data-copy]')
  if (button) copy(button).catch(() => {})
})

/** Fields that take effect on change. */
document.addEventListener('change', (event) => {
  if (event.target.matches?.('[data-submits]')) event.target.form.requestSubmit()
})

countDown()
setInterval(countDown, 1000)
keys()
if (document.getElementById('timeline')) timeline()
const form = document.querySelector('form[data-path]')
if (form) import('./request.js').then(({ request }) => request(form))
prepare(document)
live(prepare)
