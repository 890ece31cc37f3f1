/** Changes a row in memory at once, so that it holds for every request from now on; takes that back if it cannot be written. */
export const writeThrough = async <R extends object>(
  row: R,
  changes: Partial<R>,
  write: () => Promise<void>,
): Promise<void> => {
  const before = { ...row }
  Object.assign(row, changes)
  try {
    await write()
  } catch (error) {
    for (const name of Object.keys(changes) as (keyof R)[]) row[name] = before[name]
    throw error
  }
}
