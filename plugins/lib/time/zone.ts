/** Whether there is such a time zone: `Europe/Berlin`, or an offset such as `+05:30`. */
export const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** The time zone that the system is set to; UTC where it says none that is known. */
export const systemZone = (): string => {
  const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC'
}
