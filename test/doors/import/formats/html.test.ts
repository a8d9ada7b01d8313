import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { htmlText } from '../../../../src/doors/import/formats/html.ts';

describe('htmlText', () => {
  it('keeps what one reads: no tags, styles or comments, breaks as lines, entities as characters', () => {
    const html =
      '<html><head><title>x</title><style>p{a:b}</style></head><body><!-- no --><p>A &lt;b&gt; &amp; c</p>' +
      '<p class="x">2 < 3,<br/>caf&#233; &#x1F600;&nbsp;&unknown;</p><script>if (a<b) {}</script></body></html>';
    equal(htmlText(html), 'A <b> & c\n\n2 < 3,\ncafé 😀 &unknown;');
  });

  it('takes plain text as it is', () => {
    equal(htmlText('a < b > c & d;'), 'a < b > c & d;');
  });

  it('ends for any text, and leaves no longer one', () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.string({
          unit: fastCheck.constantFrom('<', '>', '/', '&', ';', '#', 'p', 'a', ' ', '\n', '!'),
        }),
        (text) => ok(htmlText(text).length <= text.length + 1),
      ),
      { seed: 16, numRuns: 300 },
    );
  });
});
