/** Whether an exit code means failure; null without a code. */
export const exitFailed = (code: string | undefined): boolean | null => (code === undefined ? null : Number(code) !== 0)
