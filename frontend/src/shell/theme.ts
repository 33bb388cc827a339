import { createTheme, type MantineColorsTuple } from "@mantine/core";
import i18n from "../i18n/i18n";

const teal: MantineColorsTuple = [
  "#e6f7f5",
  "#c9ebe6",
  "#97d8cf",
  "#5fc4b7",
  "#2dd4bf",
  "#14a293",
  "#11897d",
  "#0f766e",
  "#0c5f59",
  "#084a45",
];

const dark: MantineColorsTuple = [
  "#e9eaec",
  "#c6c9ce",
  "#a2a6ad",
  "#868b94",
  "#3d4149",
  "#2c2f35",
  "#212429",
  "#1b1d21",
  "#141518",
  "#0e0f11",
];

const CLOSE = { "aria-label": i18n.t("panel.close") };

/** One accent, one scale of type and space; small controls, since people work here all day. */
export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  colors: { teal, dark },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  defaultRadius: 7,
  fontSizes: { xs: "11.5px", sm: "13px", md: "14px", lg: "16px", xl: "19px" },
  spacing: { xs: "6px", sm: "10px", md: "16px", lg: "24px", xl: "36px" },
  headings: { fontWeight: "600" },
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs" } },
    MultiSelect: { defaultProps: { size: "xs" } },
    TagsInput: { defaultProps: { size: "xs" } },
    Autocomplete: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true, multiline: true, maw: 340 } },
    Modal: {
      defaultProps: { centered: true, transitionProps: { duration: 120 }, closeButtonProps: CLOSE },
    },
    Notification: { defaultProps: { closeButtonProps: CLOSE } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: "md" } },
  },
});
