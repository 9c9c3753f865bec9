import { render } from "preact";
import { App } from "./app";
import { watchEntries } from "./data";
import { bindAddress } from "./state";
import "./style.css";

bindAddress();
void watchEntries();
render(<App />, document.getElementById("app")!);
