/**
 * Keeps the page as long as it is while other numbers load, so that choosing another period scrolls nobody to the top.
 *
 * Test: test/e2e/dashboard.test.ts.
 */

/** Answers that the page waits for. */
let awaited = 0;

/** What has arrived may ask for more once it shows. */
const SETTLED_MS = 300;

function releaseSoon(): void {
  setTimeout(() => {
    if (awaited === 0) document.body.style.minHeight = '';
  }, SETTLED_MS);
}

/** Keeps the page from ending above what is in sight until nothing more is awaited. Call before it shows another state. */
export function holdHeight(): void {
  document.body.style.minHeight = `${scrollY + innerHeight}px`;
  releaseSoon();
}

/** Counts an answer as awaited until the returned function is called; calling it again does nothing. */
export function awaitAnswer(): () => void {
  awaited += 1;
  let isAwaited = true;
  return () => {
    if (!isAwaited) return;
    isAwaited = false;
    awaited -= 1;
    releaseSoon();
  };
}
