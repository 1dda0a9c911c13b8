// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The visible part of a scrolled box, for pictures that draw only that part.
import { useEffect, useRef, useState } from 'preact/hooks';

// Returns [ref of the box, {width, height, above}] in CSS pixels; above: height of the content
// scrolled out at the top.
export function useScrolled() {
  const ref = useRef(null);
  const [seen, setSeen] = useState({ width: 0, height: 0, above: 0 });
  useEffect(() => {
    const box = ref.current;
    const look = () => setSeen({ width: box.clientWidth, height: box.clientHeight, above: box.scrollTop });
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener('scroll', look);
    return () => (observer.disconnect(), box.removeEventListener('scroll', look));
  }, []);
  return /** @type {const} */ ([ref, seen]);
}

// The part of a content of this height that has to be drawn: at most the height of the box, not
// beyond the end.
export function windowOf(seen, contentHeight) {
  const height = Math.min(contentHeight, seen.height);
  return { height, above: Math.max(0, Math.min(seen.above, contentHeight - height)) };
}
