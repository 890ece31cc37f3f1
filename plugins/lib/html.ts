export {
  choice,
  costHead,
  costUnit,
  countMark,
  cursorLinks,
  decisionMark,
  durationMark,
  faultList,
  instantMark,
  newRowsMark,
  pageUrl,
  priceMark,
} from './html/marks.ts'
export { type Hole, Html, html, joined, raw, visible } from './html/template.ts'
