export const REMINDER = '<system-reminder>'
const REMINDER_END = '</system-reminder>'

/** The text without `<system-reminder>` spans, which clients add and move freely. A span without an end reaches to the end of the text. */
export const withoutReminders = (text: string): string => {
  let start = text.indexOf(REMINDER)
  if (start === -1) return text
  let retained = ''
  let from = 0
  while (start !== -1) {
    retained += text.slice(from, start)
    const end = text.indexOf(REMINDER_END, start)
    if (end === -1) return retained
    from = end + REMINDER_END.length
    start = text.indexOf(REMINDER, from)
  }
  return retained + text.slice(from)
}
