/** transformers.js asks at its start whether this is there, and calls it for images alone. */
export default function sharp() {
  throw new Error('Images are not supported: sharp is not installed.');
}
