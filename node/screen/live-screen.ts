import { createLogUpdate } from 'log-update'
import type { NodeView } from '../session/view.js'
import { screenLines } from './screen-lines.js'

/** A view in the terminal that is redrawn in place. */
export interface LiveScreen {
  /** Starts to draw. @param show  returns the current view */
  follow(show: () => NodeView): void
  /** Hides the view. @returns a function that shows it again */
  hide(): () => void
  /** Stops, and leaves the last view on the screen. */
  close(): void
}

const DRAW_EVERY_MS = 1000
const HINT = 'Ctrl-C ends the node. In another terminal: prove-node pause, resume, finish, limits'

export function createLiveScreen(terminal: NodeJS.WriteStream): LiveScreen {
  const update = createLogUpdate(terminal)
  let show: (() => NodeView) | null = null
  let timer: NodeJS.Timeout | null = null
  let height = 0
  const draw = (hint: string): void => {
    if (show === null) return
    const lines = screenLines(show(), { nowMs: Date.now(), columns: terminal.columns })
    // A view that is higher than the terminal could not be redrawn.
    const shown = [...lines, ...(hint === '' ? [] : [hint])].slice(0, Math.max(1, terminal.rows - 1))
    // log-update 7.2.0 overwrites the following lines when a change adds a line in the middle.
    if (shown.length !== height) update.clear()
    height = shown.length
    update(shown.join('\n'))
  }
  const redraw = (): void => draw(HINT)
  const begin = (): void => {
    timer ??= setInterval(redraw, DRAW_EVERY_MS)
    terminal.on('resize', redraw)
    redraw()
  }
  const end = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
    terminal.off('resize', redraw)
  }
  return {
    follow(next) {
      show = next
      begin()
    },
    hide() {
      end()
      update.clear()
      return begin
    },
    close() {
      if (timer !== null) draw('')
      end()
      update.done()
    },
  }
}
