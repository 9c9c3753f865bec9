// All views: each folder of views/ is one.
import type { View } from "./api";

const modules = import.meta.glob<{ view: View }>("./views/*/index.tsx", { eager: true });
export const views: View[] = Object.values(modules).map((m) => m.view).sort((a, b) => a.order - b.order);
export const viewsAt = (place: View["place"]): View[] => views.filter((v) => v.place === place);
