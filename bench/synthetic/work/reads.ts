import type { Step } from '../../quality/trajectory.ts'
import { type Author, turn, word } from '../author.ts'
import { editors, nthEdit } from '../editors.ts'
import { rounds, type WorkKinds } from './work.ts'

const PAGE = 6
const PAGES = 5

const read = (offset: number, limit: number, lines: readonly string[]): Step =>
  turn('Read', { file_path: '/repo/src/main.ts', offset, limit }, lines.slice(offset, offset + limit).join('\n'))

/** Pages through a file, reads known parts in other ranges, and edits it. */
const paging = (author: Author) => {
  let lines: readonly string[] = []
  const page = (place: number) => () => {
    if (place === 0) lines = author.lines(PAGE * PAGES)
    return read(place * PAGE, PAGE, lines)
  }
  const again = (offset: number) => (round: number) => read(offset, PAGE + (round % 3), lines)
  return rounds([
    ...Array.from({ length: PAGES }, (_, place) => page(place)),
    ...[3, 11, 17].map(again),
    (round: number) => nthEdit(editors.Edit, round, author.lines(1)[0] ?? ''),
    again(8),
  ])
}

const atOnce = (steps: readonly Step[]): Step => ({
  calls: steps.flatMap(({ calls }) => calls),
  results: steps.flatMap(({ results }) => results),
})

/** Reads many files, some together, some again in another way. */
export const reads: WorkKinds = {
  rereading: paging,
  reads_at_once: (author) => () => atOnce(Array.from({ length: 5 }, () => author.work())),
  subagents_at_once: (author) =>
    rounds([
      (round) =>
        atOnce(
          Array.from({ length: 4 }, (_, place) =>
            turn(
              'Task',
              {
                subagent_type: 'explore',
                description: 'Look for uses',
                prompt: `Look at ${word(round * 4 + place + 1)}`,
              },
              author.lines(3).join('\n'),
            ),
          ),
        ),
      () => author.work(),
    ]),
  /** Searches without a match, with a new pattern each time. */
  searches_without_hits: (author) =>
    rounds([
      (round) => turn('Grep', { pattern: word(round * 3 + 700) }, 'No files found'),
      (round) => turn('Grep', { pattern: word(round * 3 + 701) }, 'No files found'),
      () => author.work(),
    ]),
}
