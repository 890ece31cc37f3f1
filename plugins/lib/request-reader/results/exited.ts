/** Whether an exit code says that a command failed; null without one. */
export const exited = (code: string | undefined): boolean | null => (code === undefined ? null : Number(code) !== 0)
