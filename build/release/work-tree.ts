import { execFileSync } from 'node:child_process'

export const git = (root: string, ...words: readonly string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()

/** Throws where a release would hold what is not committed, or what is not on the branch of releases. */
export const refuseUnready = (root: string, version: string, branch = 'main'): void => {
  const changed = git(root, 'status', '--porcelain')
  if (changed !== '') throw new Error(`There are changes that are not committed:\n${changed}\nCommit or undo them.`)
  const current = git(root, 'rev-parse', '--abbrev-ref', 'HEAD')
  if (current !== branch) throw new Error(`Releases are made on ${branch}, this is ${current}: git switch ${branch}.`)
  if (git(root, 'tag', '--list', `v${version}`) !== '')
    throw new Error(`The tag v${version} is there already: choose another version.`)
}
