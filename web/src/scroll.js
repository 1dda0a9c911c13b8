// SPDX-License-Identifier: GPL-2.0-only
// What a scrolled box shows of its content, for pictures that draw no more than that.
import { useEffect, useRef, useState } from 'preact/hooks';

// [ref of the box, {width, height, above}] in CSS pixels; above: of the content, what is scrolled away.
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
  return [ref, seen];
}

// Of content so high, the part to draw: at most the box's height, and never beyond its end.
export function windowOf(seen, contentHeight) {
  const height = Math.min(contentHeight, seen.height);
  return { height, above: Math.max(0, Math.min(seen.above, contentHeight - height)) };
}
